// Strided copies: ops that copy x to their result at positions that are linear in an index.
#pragma once

#include "compiler/kernels/builder/kernel_builder.h"

namespace scopevm::compiler::kernels {

// The strides of an axis are those in x and in the result. The axes visit every element of the
// result once, in row-major order, so the last stride in the result is 1.
struct StridedCopy {
  llvm::SmallVector<Axis> axes;
  DimExpr x_start = 0;
};

// Appends the launch for `op`. The strides of x select the method, by the first line that applies:
//   stride 1 on the last axis     rows are copied as vectors
//   stride 0 on the last axis     rows are filled as vectors
//   stride 1 on an earlier axis   tiles are transposed in registers
//   other strides                 elements are copied one by one
llvm::LogicalResult lower_strided_copy(mlir::Operation* op, LoweringContext& context, mlir::Value x,
                                       mlir::Value result, StridedCopy copy);

}  // namespace scopevm::compiler::kernels

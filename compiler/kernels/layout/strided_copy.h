// Strided copies: result[t(i)] = x[s(i)] for every index i of a space.
#pragma once

#include "compiler/kernels/builder/kernel_builder.h"

namespace scopevm::compiler::kernels {

// Columns of `axes`: stride in x, stride in the result. The axes visit every result element once,
// in row-major order, so the last result stride is 1.
struct StridedCopy {
  llvm::SmallVector<Axis> axes;
  DimExpr x_start = 0;
};

// Appends the launch for `op`. The strides select the method: rows of vectors if both sides are
// contiguous along the last axis, tiles transposed in registers if x is contiguous along another
// axis, a fill if the stride of x is 0, and single elements otherwise.
llvm::LogicalResult lower_strided_copy(mlir::Operation* op, LoweringContext& context, mlir::Value x,
                                       mlir::Value result, StridedCopy copy);

}  // namespace scopevm::compiler::kernels

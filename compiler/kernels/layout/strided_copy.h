// Copies whose two sides step by strides: result[t(i)] = x[s(i)] for every index i of a space.
#pragma once

#include "compiler/kernels/builder/kernel_builder.h"

namespace scopevm::compiler::kernels {

// Columns of `axes`: stride in x, stride in the result. The axes visit every result element once,
// in row-major order, so the last result stride is 1.
struct StridedCopy {
  llvm::SmallVector<Axis> axes;
  DimExpr x_start = 0;
};

// Appends the launch for `op`. Chooses by strides: rows of vectors where both sides run along the
// last axis, tiles transposed in registers where x runs along another one, a fill where x stands
// still, and single elements otherwise.
llvm::LogicalResult lower_strided_copy(mlir::Operation* op, LoweringContext& context, mlir::Value x,
                                       mlir::Value result, StridedCopy copy);

}  // namespace scopevm::compiler::kernels

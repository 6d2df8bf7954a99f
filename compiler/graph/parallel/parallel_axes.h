// Parallel axes that several ops have in common: the values of `parallel_axes` in the definitions
// of the ops. An op's own are defined in the folder of its family.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// Axes of the result below `end` to which the operands broadcast as in NumPy: each operand's axis,
// aligned at the last one, has the dim of the result, or the dim 1.
ParallelAxes broadcast_axes(mlir::Operation* op, int64_t end = std::numeric_limits<int64_t>::max());
// Axes except `skipped` that have the same number and dim in all operands and results. Operands of
// rank 0 are whole.
ParallelAxes equal_axes(mlir::Operation* op, llvm::ArrayRef<int64_t> skipped = {});
// The first `count` axes of the first operand and of all results. The other operands are whole.
ParallelAxes leading_axes(mlir::Operation* op, int64_t count);
// The axes of the first operand that a reduction along `axes` keeps.
ParallelAxes reduced_axes(mlir::Operation* op, llvm::ArrayRef<int64_t> axes, bool keeps_dims);

// The axis to which `operand` broadcasts axis `axis` of a result of rank `rank` and dim `dim`:
// kWhole if it has no such axis or its dim is 1. Empty if its dim is another one.
std::optional<int64_t> broadcast_axis(llvm::ArrayRef<DimExpr> operand, int64_t axis, int64_t rank,
                                      DimExpr dim);

}  // namespace scopevm::compiler::graph

// Bounds of dimension expressions over the iterations of loops.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// Replaces the indices of loops around `op` by their values in the last iteration. Applies to each
// loop that has a trip count and in whose index `e` decreases linearly. If the result is never
// negative, `e` is never negative in any iteration. This proves, for example, that a slice at the
// loop index is inside x if x has one row per iteration.
DimExpr at_last_iteration(DimExpr e, mlir::Operation* op);

}  // namespace scopevm::compiler::graph

// Bounds of dimension expressions over the iterations of loops.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// For each loop around `op` in whose index `e` decreases linearly, replaces the index by its value
// in the last iteration. If the result is never negative, `e` is never negative in any iteration.
// This proves, for example, that a slice at the loop index is inside x if x has one row per
// iteration.
DimExpr at_last_iteration(DimExpr e, mlir::Operation* op);

}  // namespace scopevm::compiler::graph

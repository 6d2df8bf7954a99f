// Bounds of dimension expressions over the iterations of loops.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// The minimum of `e` over the iterations of the loops around `op`, for an `e` that decreases
// monotonically with their iteration counts. Proves, for example, that a slice at the iteration
// count stays inside an input as long as the loop.
DimExpr at_last_iteration(DimExpr e, mlir::Operation* op);

}  // namespace scopevm::compiler::graph

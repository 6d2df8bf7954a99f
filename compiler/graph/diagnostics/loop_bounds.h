// Bounds of dimension expressions over the iterations of loops.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// The least value of `e` over the iterations of the loops around `op`, where it falls steadily with
// their counts: a slice at the count, of an input that is as long as the loop, stays inside.
DimExpr at_last_iteration(DimExpr e, mlir::Operation* op);

}  // namespace scopevm::compiler::graph

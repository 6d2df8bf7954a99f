// Reads the placement constraints of a graph. Private to compiler/placement.
#pragma once

#include <vector>

#include "compiler/placement/graph_problem.h"

namespace scopevm::compiler::placement {

// Translates a graph into a Problem. Parameters, results and ops are tasks, except for
// branches, loops, calls of functions, closures, and annotations that are not copies. Conditions
// and merge points are tasks too, as placement-only nodes. A merge point is a result of a branch or
// a loop; all its operands are stored at the place of the merged value.
Result<GraphProblem> read_constraints(mlir::ModuleOp module, const Machine& machine,
                                      const std::vector<Rule>& rules);

}  // namespace scopevm::compiler::placement

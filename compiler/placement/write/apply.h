// Writes an assignment into a graph. Private to compiler/placement.
#pragma once

#include "compiler/placement/graph_problem.h"
#include "compiler/placement/solve/assignment.h"

namespace scopevm::compiler::placement {

// Writes the assignment into the module: the places of types, device attributes, copies, and a
// clone of each constant for each device that reads it. The report has no `copies` and no
// `seconds`.
Report apply(mlir::ModuleOp module, const GraphProblem& graph, const Assignment& assignment);

}  // namespace scopevm::compiler::placement

// The pools of views and their operands. Private to compiler/placement.
#pragma once

#include "compiler/placement/graph_problem.h"

namespace scopevm::compiler::placement {

// The result of a view may alias its operand, so both are stored in one pool, which
// keep_in_place() chooses.
struct View {
  FlowIndex flow;
  mlir::Value of;
  TaskIndex task;
};

// Chooses the pool of a view. `of`: the flow of its operand. REQUIRES: the pools that rules and
// constraints require are known.
void keep_in_place(const View& view, FlowIndex of, GraphProblem& graph);

}  // namespace scopevm::compiler::placement

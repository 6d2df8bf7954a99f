// One loop -> two, one after the other.
#pragma once

#include <optional>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

struct SplitLoop {
  LoopOp first;
  LoopOp second;
};

// Splits off those carried values that do not depend on the others, where that lets a matrix
// product of the rest run for all iterations at once: the second loop reads what the first one
// gathered. Nothing where no such product is. `loop` is erased.
std::optional<SplitLoop> split_loop(LoopOp loop);

}  // namespace scopevm::compiler::graph

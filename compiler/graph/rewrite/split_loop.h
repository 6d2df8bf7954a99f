// Loop fission: splits one loop into two that run one after the other.
#pragma once

#include <optional>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

struct SplitLoop {
  LoopOp first;
  LoopOp second;
};

// Moves the smallest set of carried values that depend on no others into a first loop. The second
// loop reads the values that the first loop gathered. Splits only if a matrix product of the second
// loop can then be computed for all iterations at once; otherwise returns nothing. Erases `loop` if
// it is split.
std::optional<SplitLoop> split_loop(LoopOp loop);

}  // namespace scopevm::compiler::graph

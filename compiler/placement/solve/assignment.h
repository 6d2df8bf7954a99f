// Assigns a device to each task of a placement problem.
#pragma once

#include <cstdint>

#include "compiler/placement/problem.h"
#include "compiler/placement/solve/cost.h"

namespace scopevm::compiler::placement {

struct Assignment {
  Devices devices;  // every task has one
  Cost cost;
  bool is_proved = false;  // the assignment is proved optimal
};

Cost cost_of(const Problem& problem, const Devices& devices);

// With two devices, no shared pools and no required scopes, one minimum cut gives the exact
// solution (Stone, 1977). In general, swap moves alternate with moves of single tasks until neither
// improves the cost. A swap move is a minimum cut for one pair of devices (Boykov, Veksler, Zabih,
// 2001). Then, if few tasks have several permitted devices, branch and bound over at most `nodes`
// nodes follows. If the result is not proved optimal, the search is repeated without some of the
// additional pools, so that describing one does not make the result more expensive. Deterministic.
Assignment assign(const Problem& problem, int64_t nodes = 200'000);

}  // namespace scopevm::compiler::placement

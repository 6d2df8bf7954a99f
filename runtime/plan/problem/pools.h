// Chooses a pool for each group.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/deadline.h"
#include "runtime/plan/problem/groups.h"

namespace scopevm::plan {

struct PoolChoice {
  bool is_found = false;         // false: no choice within the limits was found
  bool is_only = false;          // each group has one candidate
  bool is_cheapest = false;      // each group has its first candidate, so no plan costs less
  std::vector<int> pools;        // by group
  std::vector<int64_t> offsets;  // by group, bytes: a plan within the limits; empty if is_only
  double cost = 0;               // the sum of bytes times cost_per_byte
};

// Searches for pools of least cost. `limits`, by pool, is in bytes. Several orders of groups are
// tried: each group takes its first candidate that has room for it. If a group fits nowhere, it
// comes first in the next trial ("squeaky wheel" optimisation, Joslin and Clements 1999), until the
// deadline. If there is only one choice, it is returned, also if it exceeds a limit.
PoolChoice choose_pools(const Problem& problem, const Groups& groups,
                        const std::vector<int64_t>& limits, const Deadline& deadline);

}  // namespace scopevm::plan

// Skyline placement: see place_on_skyline().
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/deadline.h"
#include "runtime/plan/heuristics/conflicts.h"
#include "runtime/plan/steps.h"

namespace scopevm::plan {

// Places the items in order of ascending offsets, each on top of the items that are placed and live
// at one of its steps: "lowest segment first", as in E. K. Burke, G. Kendall, G. Whitwell, "A new
// placement heuristic for the orthogonal stock-cutting problem" (2004). Among the items with the
// lowest offset, the first in `order` is placed. Items with required offsets are placed at the
// start. Returns the height. O((n + moves) log n) time: an item moves when the skyline rises above
// the step at which the item waits. `moves_left` is decreased. At 0 and after the deadline, items
// are placed where they wait, so that offsets are not ascending any more.
int64_t place_on_skyline(const Instance& instance, const Steps& steps,
                         const std::vector<int32_t>& order, const Deadline& deadline,
                         int64_t& moves_left, std::vector<int64_t>& offsets);

// The same without a limit of moves, in O(n^2) time. Faster for a few hundred items.
int64_t place_on_skyline(const Instance& instance, const Conflicts& conflicts,
                         const std::vector<int32_t>& order, std::vector<int64_t>& offsets);

}  // namespace scopevm::plan

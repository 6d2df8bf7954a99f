// The fast heuristics of the portfolio.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/deadline.h"
#include "runtime/plan/instance.h"

namespace scopevm::plan {

struct HeuristicPlan {
  std::vector<int64_t> offsets;
  int64_t height = 0;
  const char* name = "";
};

// Places the items with several heuristics and returns the plan of least height. Stops at the first
// plan with a height of at most `target`. Makes at least one plan; after the deadline, no further
// one. Deterministic before the deadline. O(n log n) time, proportional to `effort` if the target
// is not reached.
HeuristicPlan place_with_heuristics(const Instance& instance, int64_t target, double effort,
                                    const Deadline& deadline);

}  // namespace scopevm::plan

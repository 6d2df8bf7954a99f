// The plan of least height for the blocks of a trace: what an allocator that knew all later
// operations would need.
#pragma once

#include <cstdint>

#include "scopevm/status.h"
#include "tools/lab/replay/worker/schedule.h"

namespace scopevm::lab {

struct BestPlan {
  int64_t height = 0;       // bytes; 0: no blocks
  int64_t lower_bound = 0;  // bytes: no plan has a smaller height
  bool is_optimal = false;  // proved
};

// Plans the blocks of all scopes in one range of addresses: first with heuristics, then with
// searches, until the plan is proved optimal or the limit of CPU time is reached. Blocks have the
// alignment that they require, at least that of malloc(). A reallocation ends a block and starts
// another one. Errors: kOutOfMemory.
Result<BestPlan> best_plan(const ScheduleFile& schedule, double time_limit_s);

// The part of the height by which an allocator with this resident memory exceeds the plan.
// Negative if it has fewer bytes: pages that the program has not touched are not resident.
double gap_to(const BestPlan& plan, uint64_t resident_bytes);

}  // namespace scopevm::lab

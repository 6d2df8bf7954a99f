// Plans the blocks of a trace; see best_plan.h.
#include "tools/lab/replay/best_plan.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "scopevm/plan.h"

namespace scopevm::lab {
namespace {

// Collects the lifespan of each block, in operations.
class Blocks {
 public:
  explicit Blocks(const Schedule& schedule) : live_(schedule.slots) {}

  void add(const Operation& operation, int64_t step) {
    Block& block = live_[operation.slot];
    if (operation.kind != EventKind::kAllocate) end(block, step);
    block = {};
    if (operation.kind != EventKind::kRelease)
      block = {operation.size, step, int64_t{1} << operation.alignment_log2};
  }

  plan::Problem finish(int64_t steps) {
    for (Block& block : live_) end(block, steps);
    return std::move(problem_);
  }

 private:
  struct Block {
    uint64_t size = 0;  // 0: none
    int64_t begin = 0;
    int64_t alignment = 1;
  };

  void end(const Block& block, int64_t step) {
    if (block.size == 0) return;
    constexpr int64_t kMallocAlignment = alignof(std::max_align_t);
    problem_.buffers.push_back({.lifespans = {{block.begin, step}},
                                .size = static_cast<int64_t>(block.size),
                                .alignment = std::max(block.alignment, kMallocAlignment)});
  }

  std::vector<Block> live_;  // by slot
  plan::Problem problem_;
};

}  // namespace

Result<BestPlan> best_plan(const ScheduleFile& schedule, double time_limit_s) {
  const Schedule* mapped = ScheduleFile::map(schedule.descriptor());
  if (mapped == nullptr) return Status::out_of_memory();
  Blocks blocks(*mapped);
  const auto steps = static_cast<int64_t>(mapped->operations);
  for (int64_t step = 0; step < steps; ++step) blocks.add(mapped->begin()[step], step);
  munmap(const_cast<Schedule*>(mapped),
         sizeof(Schedule) + static_cast<size_t>(steps) * sizeof(Operation));
  SCOPEVM_ASSIGN_OR_RETURN(const plan::Plan plan,
                           plan::solve(blocks.finish(steps), {.time_limit_s = time_limit_s}));
  return BestPlan{plan.height, plan.lower_bound, plan.proof == plan::Proof::kOptimal};
}

double gap_to(const BestPlan& plan, uint64_t resident_bytes) {
  return static_cast<double>(resident_bytes) / static_cast<double>(plan.height) - 1;
}

}  // namespace scopevm::lab

// Implements Scheduler (scopevm/scheduler.h) with CallScheduler.
#include "scopevm/scheduler.h"

#include <utility>

#include "runtime/process/cpu_set.h"
#include "runtime/without_exceptions.h"
#include "vm/run/admission/call_scheduler.h"

namespace scopevm {

Result<std::vector<int>> cpus_of_numa_node(int node) {
  return runtime::without_exceptions([&] { return runtime::cpus_of_node(node); });
}

Scheduler::Scheduler(std::shared_ptr<vm::CallScheduler> scheduler)
    : scheduler_(std::move(scheduler)) {}

Result<Scheduler> Scheduler::create(SchedulerOptions options) {
  return runtime::without_exceptions([&]() -> Result<Scheduler> {
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<vm::CallScheduler> scheduler,
                             vm::CallScheduler::create(std::move(options)));
    return Scheduler(std::move(scheduler));
  });
}

Result<SchedulerStats> Scheduler::stats() const {
  return runtime::without_exceptions(
      [&]() -> Result<SchedulerStats> { return scheduler_->stats(); });
}

int Scheduler::workers() const { return scheduler_->workers(); }

}  // namespace scopevm

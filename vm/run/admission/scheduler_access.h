// Access to the implementation of a Scheduler, for the library.
#pragma once

#include <memory>

#include "scopevm/scheduler.h"

namespace scopevm {

struct SchedulerAccess {
  static const std::shared_ptr<vm::CallScheduler>& get(const Scheduler& scheduler) {
    return scheduler.scheduler_;
  }
};

}  // namespace scopevm

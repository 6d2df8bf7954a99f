// The handle of a scheduler of the C API.
#pragma once

#include <memory>

#include "vm/run/admission/call_scheduler.h"

struct scopevm_scheduler {
  std::shared_ptr<scopevm::vm::CallScheduler> scheduler;
};

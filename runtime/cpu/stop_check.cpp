// The check of the current thread.
#include "runtime/cpu/stop_check.h"

namespace scopevm::runtime {

thread_local constinit StopCheckScope::Current StopCheckScope::current_ = {nullptr, nullptr};

bool should_kernel_stop() {
  const StopCheckScope::Current current = StopCheckScope::current_;
  return current.check != nullptr && current.check(current.context);
}

}  // namespace scopevm::runtime

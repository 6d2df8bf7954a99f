// The function that receives messages; see log.h.
#include "runtime/log.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "runtime/without_exceptions.h"

namespace scopevm {
namespace runtime {
namespace {

// Above all severities: no function is set.
constexpr uint8_t kNothing = 255;

struct Log {
  std::atomic<uint8_t> least{kNothing};
  std::shared_mutex mutex;  // exclusive: the function changes
  LogFunction function;
};

// Never destroyed: threads can report messages while the process ends.
Log& process_log() {
  static Log* const log = new Log;
  return *log;
}

// This thread executes the function.
thread_local bool is_in_function = false;

}  // namespace

bool is_logged(LogSeverity severity) noexcept {
  return static_cast<uint8_t>(severity) >= process_log().least.load(std::memory_order_relaxed);
}

void log(LogSeverity severity, std::string_view text, uint64_t request_id) noexcept {
  if (!is_logged(severity) || is_in_function) return;
  Log& log = process_log();
  std::shared_lock lock(log.mutex);
  if (!log.function) return;
  is_in_function = true;
  (void)without_exceptions([&]() -> Status {
    log.function({severity, text, request_id});
    return {};
  });
  is_in_function = false;
}

}  // namespace runtime

Status set_log(LogFunction function, LogSeverity least) {
  return runtime::without_exceptions([&]() -> Status {
    if (runtime::is_in_function)
      return {StatusCode::kInvalidArgument, "the function of the log must not replace itself"};
    runtime::Log& log = runtime::process_log();
    const uint8_t lowest = function ? static_cast<uint8_t>(least) : runtime::kNothing;
    // The previous function is destroyed after the lock is released.
    std::unique_lock lock(log.mutex);
    log.function.swap(function);
    log.least.store(lowest, std::memory_order_relaxed);
    return {};
  });
}

}  // namespace scopevm

// The function that receives messages; see log.h.
#include "runtime/log.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>

#include "runtime/c_api/c_arguments.h"
#include "runtime/without_exceptions.h"
#include "scopevm/c/monitor.h"

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

namespace {

// Passes messages to a function of the C API. Its destruction is the end of the function's use.
class CLog {
 public:
  explicit CLog(const scopevm_log_options& options) : options_(options) {}
  CLog(const CLog&) = delete;
  CLog& operator=(const CLog&) = delete;
  ~CLog() {
    if (is_set_ && options_.release != nullptr) options_.release(options_.context);
  }
  void set() { is_set_ = true; }
  void operator()(const LogMessage& message) const {
    const std::string text(message.text);
    const scopevm_log_message given = {sizeof given, static_cast<int>(message.severity),
                                       text.c_str(), message.request_id};
    options_.function(options_.context, &given);
  }

 private:
  const scopevm_log_options options_;
  bool is_set_ = false;
};

Status replace(LogFunction function, LogSeverity least) {
  if (runtime::is_in_function)
    return {StatusCode::kInvalidArgument, "the function of the log must not replace itself"};
  runtime::Log& log = runtime::process_log();
  const uint8_t lowest = function ? static_cast<uint8_t>(least) : runtime::kNothing;
  // The previous function is destroyed after the lock is released.
  std::unique_lock lock(log.mutex);
  log.function.swap(function);
  log.least.store(lowest, std::memory_order_relaxed);
  return {};
}

}  // namespace
}  // namespace scopevm

scopevm_status* scopevm_set_log(const scopevm_log_options* options) {
  using scopevm::Status;
  return scopevm::checked([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(
        const scopevm_log_options c,
        scopevm::read_options(options, SCOPEVM_SIZE_UP_TO(scopevm_log_options, least),
                              "scopevm_log_options"));
    if (c.least < SCOPEVM_LOG_INFO || c.least > SCOPEVM_LOG_ERROR)
      return {scopevm::StatusCode::kInvalidArgument,
              "severity " + std::to_string(c.least) + ", expected 0 to 2"};
    const auto least = static_cast<scopevm::LogSeverity>(c.least);
    const auto log = std::make_shared<scopevm::CLog>(c);
    scopevm::LogFunction function;
    if (c.function != nullptr)
      function = [log](const scopevm::LogMessage& message) { (*log)(message); };
    SCOPEVM_RETURN_IF_ERROR(scopevm::replace(std::move(function), least));
    log->set();
    return {};
  });
}

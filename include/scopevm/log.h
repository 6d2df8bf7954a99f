/// @file
/// The log of the library: what it reports in addition to the errors that its functions return. By
/// default, messages are discarded.
///
///     set_log([](const LogMessage& message) { ... });
///
/// | severity | reported |
/// |---|---|
/// | error | a submitted call failed because of a device or a defect of scopevm |
/// | warning | another failure of a submitted call; fewer threads than requested |
/// | info | a cancelled call; caches returned for lack of memory; a session that started slowly |
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "scopevm/c/monitor.h"
#include "scopevm/layer/status.h"
#include "scopevm/status.h"

namespace scopevm {

/// How severe a message is, in ascending order.
enum class LogSeverity : uint8_t {
  kInfo = 0,     ///< expected; explains times and memory
  kWarning = 1,  ///< something that was requested did not happen as requested
  kError = 2,    ///< a failure that later calls can have, too
};

/// One message. The text has no line break at its end.
struct LogMessage {
  LogSeverity severity = LogSeverity::kInfo;  ///< how severe it is
  std::string_view text;                      ///< valid during the call of the function
  uint64_t request_id = 0;                    ///< CallOptions::request_id of the call; 0: none
};

/// Receives messages, on any thread, at any time. Concurrent messages call it concurrently. It can
/// use the library, but messages of its own calls are discarded. Exceptions are ignored.
using LogFunction = std::function<void(const LogMessage& message)>;

/// Replaces the function that receives the messages of the process. An empty function discards
/// them. `least` is the lowest severity that is reported. Returns after the last call of the
/// previous function has returned. Thread-safe. Errors: kInvalidArgument (called by the function
/// itself), kOutOfMemory.
inline Status set_log(LogFunction function, LogSeverity least = LogSeverity::kWarning) {
  return layer::guarded([&]() -> Status {
    if (!function) return layer::take(scopevm_set_log(nullptr));
    auto context = std::make_unique<LogFunction>(std::move(function));
    scopevm_log_options options{};
    options.struct_size = sizeof options;
    options.context = context.get();
    options.least = static_cast<int>(least);
    options.function = [](void* of, const scopevm_log_message* message) {
      try {
        (*static_cast<const LogFunction*>(of))(
            {static_cast<LogSeverity>(message->severity), message->text, message->request_id});
      } catch (...) {
        return;  // no exception leaves the function, and a log cannot report one
      }
    };
    options.release = [](void* of) { delete static_cast<LogFunction*>(of); };
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_set_log(&options)));
    (void)context.release();
    return {};
  });
}

}  // namespace scopevm

// Errors between scopevm and Triton, log messages, and the names of element types.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/triton/api.h"
#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm::triton {

// The message of a status as a string of C: Status stores it in a std::string. Valid until the
// status changes.
const char* message_of(const Status& status);

// An error of Triton with the code that corresponds to that of `status`; null if it is ok.
TRITONSERVER_Error* to_triton(const Status& status);

// Takes ownership of an error of Triton; null: ok. `function` is the prefix of the message.
Status take(TRITONSERVER_Error* error, std::string_view function);

// Logs `error`, which it deletes; null: no effect. For calls whose failure has no other effect.
void log_if(TRITONSERVER_Error* error, std::string_view function) noexcept;
void log(TRITONSERVER_LogLevel level, const char* message) noexcept;

// The type that Triton has for `dtype`; none for types of 2 to 8 bits.
std::optional<TRITONSERVER_DataType> type_of(DType dtype);
// "TYPE_FP32", as in the model configuration.
std::string_view config_name(TRITONSERVER_DataType type);

// The status of the exception being handled. REQUIRES: called in a catch block.
Status status_of_exception() noexcept;

// Calls `body`, which returns a Status, and returns it or the status of the exception that it
// threw.
template <typename Body>
Status contained(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return status_of_exception();
  }
}

// Like contained(), with the error for Triton.
template <typename Body>
TRITONSERVER_Error* guarded(Body&& body) noexcept {
  return to_triton(contained(std::forward<Body>(body)));
}

}  // namespace scopevm::triton

// Evaluates a call of Triton's API; returns its error as a Status from the enclosing function.
#define SCOPEVM_TRITON_CALL(function, ...) \
  SCOPEVM_RETURN_IF_ERROR(::scopevm::triton::take(function(__VA_ARGS__), #function))

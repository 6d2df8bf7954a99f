// The boundary between C++ and the C API: statuses of C as statuses of C++, and exceptions as
// statuses. Used by the inline functions of include/scopevm, not by programs.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "scopevm/c/status.h"
#include "scopevm/status.h"

namespace scopevm::layer {

// The status of the exception being handled: kOutOfMemory for std::bad_alloc, else kInternal with
// the exception's message. REQUIRES: called in a catch block.
inline Status status_of_exception() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return Status::out_of_memory();
    } catch (const std::exception& error) {
      return {StatusCode::kInternal, std::string("unexpected exception: ") + error.what()};
    } catch (...) {
      return {StatusCode::kInternal, "unexpected exception"};
    }
  } catch (...) {  // the description cannot be allocated
    return Status::out_of_memory();
  }
}

// Calls `body`, which returns a Status or a Result, and returns its result or the status of the
// exception that it threw.
template <typename Body>
auto guarded(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return status_of_exception();
  }
}

// A copy of an error of C.
inline Status copy(const scopevm_status* error) noexcept {
  return guarded([&]() -> Status {
    const auto code = static_cast<StatusCode>(scopevm_status_code(error));
    if (code == StatusCode::kOutOfMemory &&
        std::string_view(scopevm_status_message(error)) == "out of memory")
      return Status::out_of_memory();
    scopevm_error_fields fields{};
    fields.struct_size = sizeof fields;
    if (scopevm_status_fields(error, &fields) == 0) return {code, scopevm_status_message(error)};
    return {code, scopevm_status_message(error),
            ErrorFields{fields.subject, fields.axis, fields.expected, fields.given}};
  });
}

// Takes ownership of a status of C; null: ok.
inline Status take(scopevm_status* given) noexcept {
  if (given == nullptr) return {};
  Status status = copy(given);
  scopevm_status_free(given);
  return status;
}

// A status of C that the library takes over; null: ok.
inline scopevm_status* give(const Status& status) noexcept {
  if (status.ok()) return nullptr;
  const int code = static_cast<int>(status.code());
  // The message is the whole of a std::string, and therefore NUL-terminated.
  const char* const message = status.message().data();
  const ErrorFields* const fields = status.fields();
  if (fields == nullptr) return scopevm_status_create(code, message, nullptr);
  const scopevm_error_fields given = {sizeof given, fields->subject.c_str(), fields->axis,
                                      fields->expected.c_str(), fields->given.c_str()};
  return scopevm_status_create(code, message, &given);
}

}  // namespace scopevm::layer

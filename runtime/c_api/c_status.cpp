// The functions of the C API for statuses (scopevm/c/status.h). libscopevm and libscopevm_compiler
// export them, and a status of one can be passed to those of the other.
#include <new>
#include <string>
#include <utility>

#include "runtime/c_api/c_arguments.h"
#include "scopevm/c/status.h"

namespace scopevm {

scopevm_status* to_c(Status status) noexcept {
  if (status.ok()) return nullptr;
  static scopevm_status out_of_memory{Status::out_of_memory(), true};
  auto* made = new (std::nothrow) scopevm_status{std::move(status)};
  return made == nullptr ? &out_of_memory : made;
}

namespace {

StatusCode error_code(int code) {
  switch (static_cast<StatusCode>(code)) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kInvalidModel:
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported:
    case StatusCode::kOutOfMemory:
    case StatusCode::kResourceLimit:
    case StatusCode::kDevice:
    case StatusCode::kCancelled:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kInternal:
      return static_cast<StatusCode>(code);
    case StatusCode::kOk:
      break;
  }
  return StatusCode::kInternal;
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

}  // namespace
}  // namespace scopevm

int scopevm_status_code(const scopevm_status* status) {
  return status == nullptr ? 0 : static_cast<int>(status->status.code());
}

const char* scopevm_status_message(const scopevm_status* status) {
  // The message of a status is the whole of a std::string, and therefore NUL-terminated.
  return status == nullptr ? "" : status->status.message().data();
}

void scopevm_status_free(scopevm_status* status) {
  if (status != nullptr && !status->is_shared) delete status;
}

int scopevm_status_fields(const scopevm_status* status, scopevm_error_fields* out) {
  if (status == nullptr || out == nullptr || out->struct_size < sizeof(scopevm_error_fields))
    return 0;
  const scopevm::ErrorFields* fields = status->status.fields();
  if (fields == nullptr) return 0;
  scopevm::fill_struct(
      {0, fields->subject.c_str(), fields->axis, fields->expected.c_str(), fields->given.c_str()},
      out);
  return 1;
}

scopevm_status* scopevm_status_create(int code, const char* message,
                                      const scopevm_error_fields* fields) {
  return scopevm::checked([&]() -> scopevm::Status {
    const scopevm::StatusCode kind = scopevm::error_code(code);
    if (fields == nullptr) return {kind, scopevm::text_of(message)};
    SCOPEVM_ASSIGN_OR_RETURN(
        const scopevm_error_fields given,
        scopevm::read_options(fields, SCOPEVM_SIZE_UP_TO(scopevm_error_fields, given),
                              "scopevm_error_fields"));
    return {kind, scopevm::text_of(message),
            scopevm::ErrorFields{scopevm::text_of(given.subject), given.axis,
                                 scopevm::text_of(given.expected), scopevm::text_of(given.given)}};
  });
}

// The functions of the C API for statuses and versions (scopevm/c/status.h).
#include <new>
#include <string>
#include <utility>

#include "runtime/drivers/built_in.h"
#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"

namespace scopevm {
namespace {

// The status that to_c() returns if it cannot allocate one. It is never released.
scopevm_status& shared_out_of_memory() {
  static scopevm_status status{Status::out_of_memory()};
  return status;
}

// The kinds of devices that this build can run kernels on.
std::string features() {
  std::string text;
  for (const runtime::DeviceDriver* driver : runtime::built_in_drivers().all())
    text.append(text.empty() ? "" : " ").append(driver->kind());
  return text;
}

}  // namespace

scopevm_status* to_c(Status status) noexcept {
  if (status.ok()) return nullptr;
  auto* made = new (std::nothrow) scopevm_status{std::move(status)};
  return made == nullptr ? &shared_out_of_memory() : made;
}

}  // namespace scopevm

int scopevm_api_version(void) { return SCOPEVM_API_VERSION; }

const char* scopevm_version(void) { return SCOPEVM_VERSION; }

const char* scopevm_features(void) {
  static const std::string text = scopevm::features();
  return text.c_str();
}

int scopevm_status_code(const scopevm_status* status) {
  return status == nullptr ? 0 : static_cast<int>(status->status.code());
}

const char* scopevm_status_message(const scopevm_status* status) {
  // The message of a status is the whole of a std::string, and therefore NUL-terminated.
  return status == nullptr ? "" : status->status.message().data();
}

void scopevm_status_free(scopevm_status* status) {
  if (status != &scopevm::shared_out_of_memory()) delete status;
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

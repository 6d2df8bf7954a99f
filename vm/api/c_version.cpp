// The functions of the C API for versions (scopevm/c/status.h).
#include <string>

#include "runtime/drivers/built_in.h"
#include "scopevm/scopevm.h"

namespace scopevm {
namespace {

// The kinds of devices that this build can run kernels on.
std::string features() {
  std::string text;
  for (const runtime::DeviceDriver* driver : runtime::built_in_drivers().all())
    text.append(text.empty() ? "" : " ").append(driver->kind());
  return text;
}

}  // namespace
}  // namespace scopevm

int scopevm_api_version(void) { return SCOPEVM_API_VERSION; }

const char* scopevm_version(void) { return SCOPEVM_VERSION; }

const char* scopevm_features(void) {
  static const std::string text = scopevm::features();
  return text.c_str();
}

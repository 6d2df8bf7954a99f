// Fuzz target: bytes -> the machine that they describe. The kinds of devices have no members of
// their own, because the back ends, which read such members, are not part of the fuzzing build.
#include <cstddef>
#include <cstdint>

#include "compiler/machine/device_kind.h"
#include "compiler/machine/machine.h"

namespace scopevm::compiler {
namespace {

class Kind : public DeviceKind {
 public:
  explicit Kind(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }

 private:
  std::string_view name_;
};

const Kind kHost(format::kHostKind), kOpenCl("opencl");
const DeviceKind* const kKinds[] = {&kHost, &kOpenCl};

}  // namespace
}  // namespace scopevm::compiler

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace scopevm::compiler;
  (void)parse_machine({reinterpret_cast<const char*>(data), size}, "m.json", kKinds).ok();
  return 0;
}

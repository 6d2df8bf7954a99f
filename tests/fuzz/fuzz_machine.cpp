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
  Kind(std::string_view name, bool has_kernels) : name_(name), has_kernels_(has_kernels) {}
  std::string_view name() const override { return name_; }
  bool has_kernels() const override { return has_kernels_; }

 private:
  std::string_view name_;
  bool has_kernels_;
};

const Kind kHost(format::kHostKind, true), kOpenCl("opencl", true), kCuda("cuda", false);
const DeviceKind* const kKinds[] = {&kHost, &kOpenCl, &kCuda};

}  // namespace
}  // namespace scopevm::compiler

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace scopevm::compiler;
  (void)parse_machine({reinterpret_cast<const char*>(data), size}, "m.json", kKinds).ok();
  return 0;
}

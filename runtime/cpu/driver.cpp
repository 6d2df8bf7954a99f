// The DeviceDriver of the host CPU: one device, whose kernels the VM runs directly.
#include "runtime/cpu/driver.h"

namespace scopevm::runtime {
namespace {

class CpuDriver final : public DeviceDriver {
 public:
  std::string_view kind() const override { return "cpu"; }
  std::string_view title() const override { return "CPU"; }
  Result<std::vector<ListedDevice>> list() const override {
    return std::vector<ListedDevice>{{.name = "cpu"}};
  }
  Result<std::shared_ptr<Device>> open(int number) const override {
    if (number == 0) return std::shared_ptr<Device>();
    return Status(StatusCode::kNotFound,
                  "no CPU device " + std::to_string(number) + "; this machine has one, 0");
  }
};

}  // namespace

const DeviceDriver& cpu_driver() {
  static const CpuDriver driver;
  return driver;
}

}  // namespace scopevm::runtime

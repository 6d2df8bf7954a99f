// The DeviceDriver of OpenCL devices.
#include "runtime/opencl/driver.h"

#include <algorithm>

#include "runtime/opencl/opencl.h"

namespace scopevm::runtime {
namespace {

// A device that shares host memory is assumed to be a CPU, whose compute units are cores. It has
// one worker per unit.
ListedDevice listed(const OpenClDeviceFacts& facts, size_t number) {
  const int64_t workers = facts.compute_units * (facts.shares_host_memory ? 1 : kWorkersPerGpuUnit);
  return {.name = "opencl" + std::to_string(number),
          .summary = facts.name + " (" + facts.platform + ", " + facts.driver_version + "), " +
                     gigabytes_text(facts.memory_bytes),
          .workers = std::max<int64_t>(1, workers),
          .memory_bytes = facts.memory_bytes};
}

class OpenClDriver final : public DeviceDriver {
 public:
  std::string_view kind() const override { return opencl::kKind; }
  std::string_view title() const override { return "OpenCL"; }
  Result<std::vector<ListedDevice>> list() const override {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<OpenClDeviceFacts> all, list_opencl_devices());
    std::vector<ListedDevice> devices;
    for (size_t i = 0; i < all.size(); ++i) devices.push_back(listed(all[i], i));
    return devices;
  }
  Result<std::shared_ptr<Device>> open(int number) const override {
    return open_opencl_device(number);
  }
};

}  // namespace

const DeviceDriver& opencl_driver() {
  static const OpenClDriver driver;
  return driver;
}

}  // namespace scopevm::runtime

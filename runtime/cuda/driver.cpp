// The DeviceDriver that lists CUDA devices.
#include "runtime/cuda/driver.h"

#include <algorithm>

#include "runtime/cuda/cuda.h"

namespace scopevm::runtime {
namespace {

ListedDevice listed(const CudaDeviceFacts& facts, size_t number) {
  return {.name = "cuda" + std::to_string(number),
          .summary = facts.name + " (compute capability " + facts.compute_capability + ", driver " +
                     facts.driver_version + "), " + gigabytes_text(facts.memory_bytes) +
                     (facts.shares_host_memory ? " of the host's memory" : ""),
          .workers = std::max<int64_t>(1, facts.multiprocessors * kWorkersPerGpuUnit),
          .memory_bytes = facts.memory_bytes};
}

class CudaDriver final : public DeviceDriver {
 public:
  std::string_view kind() const override { return "cuda"; }
  std::string_view title() const override { return "CUDA"; }
  Result<std::vector<ListedDevice>> list() const override {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<CudaDeviceFacts> all, list_cuda_devices());
    std::vector<ListedDevice> devices;
    for (size_t i = 0; i < all.size(); ++i) devices.push_back(listed(all[i], i));
    return devices;
  }
  std::string_view note() const override {
    return "kernels cannot be compiled for CUDA; use these devices through OpenCL";
  }
  Result<std::shared_ptr<Device>> open(int) const override {
    return Status(
        StatusCode::kUnsupported,
        "kernels cannot run on devices of kind \"cuda\"; use these devices through OpenCL");
  }
};

}  // namespace

const DeviceDriver& cuda_driver() {
  static const CudaDriver driver;
  return driver;
}

}  // namespace scopevm::runtime

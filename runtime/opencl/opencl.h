// OpenCL devices: which there are, and how to open one as a runtime::Device. The driver is loaded
// by the first call; a machine without one only gets errors from here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/status.h"

namespace scopevm::runtime {

// What a driver says of one device.
struct OpenClDeviceFacts {
  std::string name;
  std::string platform;
  std::string driver_version;
  int64_t memory_bytes = 0;         // of the device, all together
  int64_t largest_block_bytes = 0;  // that one allocation may have
  int64_t compute_units = 0;
  bool shares_host_memory = false;
  int64_t base_alignment_bytes = 0;  // of every allocation
  bool has_f64 = false;
};

// The devices of all platforms, in the order in which the platforms tell them: the number of a
// device is its place here. Errors: kNotFound when there is no OpenCL or no platform.
Result<std::vector<OpenClDeviceFacts>> list_opencl_devices();

// Errors: kNotFound when there is no OpenCL, no platform or no device of that number, kDevice when
// its driver fails.
Result<std::shared_ptr<Device>> open_opencl_device(int number);

namespace opencl {

// The kind of these devices, as modules and machine descriptions spell it.
inline constexpr char kKind[] = "opencl";

struct Api;
// The same by the functions of `api`, which outlives the device.
Result<std::vector<OpenClDeviceFacts>> list_devices(const Api& api);
Result<std::shared_ptr<Device>> open_device(const Api& api, int number);

}  // namespace opencl
}  // namespace scopevm::runtime

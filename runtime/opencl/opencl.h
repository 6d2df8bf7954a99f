// Lists OpenCL devices and opens them as runtime::Device. The first call loads the OpenCL library;
// without it every function returns an error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/status.h"

namespace scopevm::runtime {

// The properties of one device, as its driver reports them.
struct OpenClDeviceFacts {
  std::string name;
  std::string platform;
  std::string driver_version;
  int64_t memory_bytes = 0;         // total global memory
  int64_t largest_block_bytes = 0;  // maximum size of one allocation
  int64_t compute_units = 0;
  bool shares_host_memory = false;
  int64_t base_alignment_bytes = 0;  // alignment of every allocation
  bool has_f64 = false;
};

// Lists the devices of all platforms in the order that the platforms report. A device's index is
// its ordinal. Errors: kNotFound (no OpenCL library or no platform), kDevice (the driver failed).
Result<std::vector<OpenClDeviceFacts>> list_opencl_devices();

// Opens the device with ordinal `number`. Errors: kNotFound (no OpenCL library, no platform or no
// such device), kDevice (the driver failed).
Result<std::shared_ptr<Device>> open_opencl_device(int number);

namespace opencl {

// The kind of these devices in modules and machine descriptions.
inline constexpr char kKind[] = "opencl";

struct Api;
// Like the functions above, with the functions of `api`, which must outlive the device.
Result<std::vector<OpenClDeviceFacts>> list_devices(const Api& api);
Result<std::shared_ptr<Device>> open_device(const Api& api, int number);

}  // namespace opencl
}  // namespace scopevm::runtime

// DeviceDriver: lists and opens the devices of one kind.
// Drivers: a set of drivers, by kind. runtime/drivers/built_in.h has the drivers of this build.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device/device.h"
#include "scopevm/status.h"

namespace scopevm::runtime {

// One device of this machine, as `scopevm machine` prints it.
struct ListedDevice {
  std::string name;          // name in the machine description: "opencl0"
  std::string summary;       // human-readable: "GPU (platform, driver 1.2), 24.0 GB"; can be empty
  int64_t workers = 0;       // concurrent work items; 0: omitted from the machine description
  int64_t memory_bytes = 0;  // limit of the pools global and global.workspace; 0: no limits
};

// The number of concurrent work items per compute unit of a GPU, to hide memory latency.
inline constexpr int64_t kWorkersPerGpuUnit = 64;

// Formats a size for summaries: "24.0 GB".
std::string gigabytes_text(int64_t bytes);

// Thread-safety: all methods can be called concurrently.
class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;

  // The kind's identifier in modules, machine descriptions and bindings; one word.
  virtual std::string_view kind() const = 0;
  // The kind's human-readable name: "OpenCL".
  virtual std::string_view title() const = 0;

  // All devices of the kind, by ordinal. Errors: kNotFound (no driver or no device), kDevice (the
  // driver failed).
  virtual Result<std::vector<ListedDevice>> list() const = 0;
  // Opens the device with ordinal `number`. The host's driver returns null: the VM runs the host's
  // kernels directly. Errors: kNotFound (no such device), kDevice (the driver failed).
  virtual Result<std::shared_ptr<Device>> open(int number) const = 0;
};

class Drivers {
 public:
  // REQUIRES: `driver` outlives the set; no other driver in the set has its kind.
  void add(const DeviceDriver& driver) { all_.push_back(&driver); }

  const std::vector<const DeviceDriver*>& all() const { return all_; }

  // Opens a device. Errors: those of DeviceDriver::open, and kUnsupported for an unknown kind (the
  // message lists the known kinds).
  Result<std::shared_ptr<Device>> open(std::string_view kind, int number) const;

 private:
  std::vector<const DeviceDriver*> all_;  // in the order of `scopevm machine`
};

}  // namespace scopevm::runtime

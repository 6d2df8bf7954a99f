// DeviceDriver: the runtime's part of a back end, which lists and opens the devices of one kind.
// Drivers: a set of them, by kind. The drivers of this build are runtime/drivers/built_in.h.
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
  std::string name;          // in the description: "opencl0"
  std::string summary;       // for people: "GPU (platform, driver 1.2), 24.0 GB"; may be empty
  int64_t workers = 0;       // work items that run at once; 0: the description has no such member
  int64_t memory_bytes = 0;  // limit of its global and workspace pools; 0: no limits
};

// A GPU's units hide the latency of memory with this many work items each.
inline constexpr int64_t kWorkersPerGpuUnit = 64;

// "24.0 GB", for summaries.
std::string gigabytes_text(int64_t bytes);

// Thread-safety: any thread may call any method at any time.
class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;

  // As modules, machine descriptions and bindings spell the kind; one word.
  virtual std::string_view kind() const = 0;
  // The kind's name for people: "OpenCL".
  virtual std::string_view title() const = 0;

  // All devices of the kind, in the order of their numbers. Errors: kNotFound when there is no
  // driver or no device, kDevice when the driver fails.
  virtual Result<std::vector<ListedDevice>> list() const = 0;
  // What users of the listed devices must know; may be empty.
  virtual std::string_view note() const { return ""; }

  // Opens the device of this number. The host's driver returns null: the VM itself runs the host's
  // kernels. Errors: kNotFound when there is no such device, kDevice when the driver fails,
  // kUnsupported when devices of the kind are only listed.
  virtual Result<std::shared_ptr<Device>> open(int number) const = 0;
};

class Drivers {
 public:
  // REQUIRES: `driver` outlives the set, and no other of the set has its kind.
  void add(const DeviceDriver& driver) { all_.push_back(&driver); }

  const std::vector<const DeviceDriver*>& all() const { return all_; }

  // Errors: those of DeviceDriver::open, and kUnsupported for another kind, with the known ones.
  Result<std::shared_ptr<Device>> open(std::string_view kind, int number) const;

 private:
  std::vector<const DeviceDriver*> all_;  // in the order of the lister
};

}  // namespace scopevm::runtime

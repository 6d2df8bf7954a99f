// The sources of blocks: the operating system, the driver of a device, and an embedder's functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/device/device.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {

// Host memory: system_allocate().
class SystemSource final : public BlockSource {
 public:
  void* allocate(int64_t bytes, int64_t alignment) override;
  void deallocate(void* block, int64_t bytes) override;
};

// Memory of a device's driver. The driver determines the alignment of kDevice:
// Device::block_alignment().
class DeviceSource final : public BlockSource {
 public:
  enum class Kind : uint8_t {
    kDevice,  // Device::allocate()
    kPinned,  // Device::allocate_host()
    kShared,  // Device::allocate_shared(): mapped into the address spaces of host and device
  };
  DeviceSource(std::shared_ptr<Device> device, Kind kind)
      : device_(std::move(device)), kind_(kind) {}
  void* allocate(int64_t bytes, int64_t alignment) override;
  void deallocate(void* block, int64_t bytes) override;

 private:
  const std::shared_ptr<Device> device_;
  const Kind kind_;
};

// Allocates with `source`. An exception counts as exhausted memory.
void* allocate_without_exceptions(BlockSource& source, int64_t bytes, int64_t alignment) noexcept;

}  // namespace scopevm::runtime

// RemoteDevice: a device of another rank. Its launches run there. A copy from memory of this rank
// sends a message, and a copy to it receives one; copies within other ranks are theirs.
#pragma once

#include <memory>
#include <string>

#include "runtime/device/device.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {

class RemoteDevice final : public runtime::Device {
 public:
  // `group` must outlive the device.
  RemoteDevice(RankGroup& group, int rank, std::string kind);

  int rank() const { return rank_; }
  // All kernels of the device.
  const runtime::DeviceKernel* kernel() const { return &kernel_; }

  std::string_view kind() const override { return kind_; }
  std::string_view description() const override { return description_; }
  Status health() const override { return group_.health(); }
  int64_t block_alignment() const override;
  // An address of remote_memory.h.
  void* allocate(int64_t bytes) override;
  void deallocate(void* block, int64_t bytes) override;
  void* allocate_host(int64_t bytes, int64_t alignment) override;
  void deallocate_host(void* block, int64_t bytes) override;
  Result<std::unique_ptr<runtime::DeviceImage>> load(std::span<const uint8_t> image) override;
  std::unique_ptr<runtime::DeviceStream> make_stream() override;

 private:
  RankGroup& group_;
  const int rank_;
  const std::string kind_;
  const std::string description_;
  const runtime::DeviceKernel kernel_{};
};

}  // namespace scopevm::vm

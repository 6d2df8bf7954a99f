// RemoteDevice: a device of another rank. Its launches run there. A copy from memory of this rank
// sends a message, and a copy to it receives one; copies within other ranks are theirs.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "runtime/device/device.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {

// The messages of a call to and from a device of another rank.
class RemoteStream final : public runtime::DeviceStream {
 public:
  explicit RemoteStream(int rank) : rank_(rank) {}

  // The channel of the call's request. REQUIRES: called before the functions that transfer bytes.
  void use(RankChannel& channel) { channel_ = &channel; }

  Status copy_in(void*, const void* from_host, int64_t bytes) override {
    return channel_->send(rank_, from_host, bytes, std::exchange(next_, {}));
  }
  Status copy_out(void* to_host, const void*, int64_t bytes) override {
    return channel_->receive(rank_, to_host, bytes, std::exchange(next_, {}));
  }
  Status copy_within(void*, const void*, int64_t) override { return not_here(); }
  Status launch(const runtime::DeviceLaunch&) override { return not_here(); }
  void observe_next(runtime::CommandObserver& observer, uint64_t command) override {
    next_ = {&observer, command};
  }
  Status settle() override { return channel_->settle(); }
  // RankChannel::end() has ended the transfers.
  Status finish() override { return {}; }

 private:
  // The command is one of the other rank, which has its time.
  Status not_here() {
    next_ = {};
    return {};
  }

  RankChannel* channel_ = nullptr;
  const int rank_;
  TransferObserver next_;
};

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

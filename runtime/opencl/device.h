// runtime::Device by OpenCL: see runtime/device/device.h and docs/opencl.md.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/opencl/blocks.h"
#include "runtime/opencl/image.h"

namespace scopevm::runtime::opencl {

class OpenClDevice final : public Device {
 public:
  explicit OpenClDevice(std::shared_ptr<const Session> session)
      : session_(std::move(session)), blocks_(session_) {}
  ~OpenClDevice() override;

  std::string_view kind() const override { return "opencl"; }
  std::string_view description() const override { return session_->description; }
  void* allocate(int64_t bytes) override { return blocks_.allocate(bytes); }
  void deallocate(void* block, int64_t bytes) override;
  Result<std::unique_ptr<DeviceImage>> load(std::span<const uint8_t> image) override;
  Status copy_in(void* to, const void* from_host, int64_t bytes) override;
  Status copy_out(void* to_host, const void* from, int64_t bytes) override;
  Status copy_within(void* to, const void* from, int64_t bytes) override;
  Status launch(const DeviceLaunch& launch) override;
  Status finish() override;

 private:
  struct Pending {
    std::string kernel;
    Handle<cl_event> event;
  };

  Result<std::vector<Place>> find_all(std::span<void* const> buffers) const;
  Status set_arguments(const Kernel& kernel, const std::vector<Place>& places,
                       const DeviceLaunch& launch, int64_t per_item) const;
  void remember(const Kernel& kernel, cl_event event);
  // The first launch that failed since the last call, of those that have ended.
  Status failed_launch();
  // What a call answers: a launch before it that failed explains more than the call's own error.
  Status answer(cl_int error, const char* call);

  std::shared_ptr<const Session> session_;
  Blocks blocks_;
  std::mutex mutex_;  // of what follows
  std::deque<Pending> pending_;
};

}  // namespace scopevm::runtime::opencl

// runtime::DeviceStream by OpenCL. All streams of a device share its in-order queue; each watches
// the events of its own commands.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/opencl/blocks.h"
#include "runtime/opencl/image.h"

namespace scopevm::runtime::opencl {

class OpenClStream final : public DeviceStream {
 public:
  // `blocks` outlives the stream.
  OpenClStream(std::shared_ptr<const Session> session, const Blocks& blocks)
      : session_(std::move(session)), context_(*session_->context), blocks_(blocks) {}
  // Waits for the copies that use the host's memory.
  ~OpenClStream() override;

  Status copy_in(void* to, const void* from_host, int64_t bytes) override;
  Status copy_out(void* to_host, const void* from, int64_t bytes) override;
  Status copy_within(void* to, const void* from, int64_t bytes) override;
  Status launch(const DeviceLaunch& launch) override;
  Status settle() override;
  Status finish() override;

 private:
  // A command whose end is watched for.
  struct Pending {
    std::shared_ptr<const std::string> kernel;  // null: a copy
    bool uses_host_memory = false;
    Handle<cl_event> event;
  };

  bool maps(int64_t bytes) const;
  Result<void*> map(const Place& place, cl_map_flags how, int64_t bytes);
  Status unmap(const Place& place, void* mapped);
  Status find_all(std::span<void* const> buffers);
  Status set_arguments(const Kernel& kernel, const DeviceLaunch& launch, int64_t per_item) const;
  Status enqueue(const Kernel& kernel, const DeviceLaunch& launch);
  // After a copy from or to the host's memory was put into the queue, or was refused.
  Status copied(cl_int error, const char* call, cl_event event);
  void remember(cl_event event, std::shared_ptr<const std::string> kernel, bool uses_host_memory);
  cl_int wait_for(const Pending& command) const;
  cl_int wait_for_last_host_copy() const;
  // The first command that failed since the last call, of those that have ended.
  Status failed_command();
  // What a call answers: a command before it that failed explains more than the call's own error.
  Status answer(cl_int error, const char* call);

  std::shared_ptr<const Session> session_;
  const Context& context_;
  const Blocks& blocks_;
  std::deque<Pending> pending_;
  std::vector<Place> places_;  // of the launch that is being made
  int host_copies_ = 0;        // of pending_
  Status early_failure_;       // seen where it could not be told
};

}  // namespace scopevm::runtime::opencl

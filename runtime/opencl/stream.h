// Implements runtime::DeviceStream with OpenCL. All streams of a device share its in-order queue;
// each stream tracks the events of its own commands.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/opencl/image.h"
#include "runtime/opencl/memory/blocks.h"
#include "runtime/opencl/memory/shared_blocks.h"

namespace scopevm::runtime::opencl {

class OpenClStream final : public DeviceStream {
 public:
  // `blocks` and `shared_blocks` must outlive the stream.
  OpenClStream(std::shared_ptr<const Session> session, const Blocks& blocks,
               const SharedBlocks& shared_blocks)
      : session_(std::move(session)),
        context_(*session_->context),
        blocks_(blocks),
        shared_blocks_(shared_blocks) {}
  // Waits as settle() does.
  ~OpenClStream() override;

  Status copy_in(void* to, const void* from_host, int64_t bytes) override;
  Status copy_out(void* to_host, const void* from, int64_t bytes) override;
  Status copy_within(void* to, const void* from, int64_t bytes) override;
  Status launch(const DeviceLaunch& launch) override;
  void observe_next(CommandObserver& observer, uint64_t command) override;
  Status settle() override;
  Status finish() override;
  bool notify(StreamWork work, int64_t bytes, Wakeup& wakeup) override;

 private:
  using Clock = std::chrono::steady_clock;

  // A command whose execution is reported; none if `observer` is null.
  struct Observed {
    CommandObserver* observer = nullptr;
    uint64_t command = 0;
    Clock::time_point submitted;
  };
  // An enqueued command whose completion has not been observed.
  struct Pending {
    std::shared_ptr<const std::string> kernel;  // null for a copy
    bool uses_host_memory = false;              // or shared memory
    Observed observed;
    Handle<cl_event> event;
  };

  // Reports the execution of a completed command to its observer.
  void report(const Pending& command);
  // Copies between the host and mapped memory, and reports it.
  void copy_mapped(void* to, const void* from, int64_t bytes);
  bool uses_mapping(int64_t bytes) const;
  Result<void*> map(const BufferOffset& place, cl_map_flags how, int64_t bytes);
  Status unmap(const BufferOffset& place, void* mapped);
  // Stores the buffers of a launch in places_. Returns whether one of them is in shared memory.
  Result<bool> find_all(std::span<void* const> buffers);
  Status set_arguments(const Kernel& kernel, const DeviceLaunch& launch, int64_t per_item) const;
  Status enqueue(const Kernel& kernel, const DeviceLaunch& launch);
  // Completes copy_in and copy_out: records the enqueued copy, or reports that it was rejected.
  Status record_copy(cl_int error, const char* call, cl_event event);
  void add_pending(cl_event event, std::shared_ptr<const std::string> kernel,
                   bool uses_host_memory);
  cl_int wait_for(const Pending& command) const;
  cl_int wait_for_last_host_use() const;
  // The last command of this work; null if there is none.
  const Pending* last_of(StreamWork work, int64_t bytes) const;
  // Removes completed commands from the front of pending_. Stops after the first failed command and
  // returns its error; returns ok if none failed.
  Status failed_command();
  // The status that a method returns. An earlier failed command takes precedence over `error`,
  // because it is the likely cause.
  Status first_failure(cl_int error, const char* call);

  std::shared_ptr<const Session> session_;
  const Context& context_;
  const Blocks& blocks_;
  const SharedBlocks& shared_blocks_;
  std::deque<Pending> pending_;
  std::vector<BufferOffset> places_;  // buffers of the current launch
  Observed next_observed_;
  // The largest known lower bound of the steady clock's time minus the device's time.
  std::optional<std::chrono::nanoseconds> clock_offset_;
  int host_uses_ = 0;           // number of commands in pending_ that use host memory
  bool has_ended_all_ = false;  // notify() has reported, or will report, the end of all commands
  // Error found by add_pending(). A later method reports it: finish() at the latest.
  Status early_failure_;
};

}  // namespace scopevm::runtime::opencl

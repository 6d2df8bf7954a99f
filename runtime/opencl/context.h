// Context: a physical device with its OpenCL context. All runtime::Device objects that are open for
// the physical device share it. Session: the context and the queue of one runtime::Device. Private
// to this folder.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/opencl/api.h"

namespace scopevm::runtime::opencl {

// Records whether the device is lost. Thread-safe.
class Health {
 public:
  // Converts the error code of a driver call to a Status, like check(). If means_loss(error), marks
  // the device as lost and returns status(), which is the first such error.
  Status note(cl_int error, const char* call) {
    Status status = check(error, call);
    if (!means_loss(error)) return status;
    std::lock_guard<std::mutex> lock(mutex_);
    if (cause_.ok()) cause_ = std::move(status).with_context("the device is lost");
    is_lost_.store(true, std::memory_order_release);
    return cause_;
  }
  // Ok, or the first error that marked the device as lost.
  Status status() const {
    if (!is_lost_.load(std::memory_order_acquire)) return {};
    std::lock_guard<std::mutex> lock(mutex_);
    return cause_;
  }

 private:
  std::atomic<bool> is_lost_ = false;
  mutable std::mutex mutex_;
  Status cause_;
};

// The built programs of a context that are in use, by their source text. Thread-safe if `mutex` is
// held during each access.
struct Programs {
  std::mutex mutex;  // also held during a build, so that equal programs are built once
  std::map<std::string, std::weak_ptr<const Handle<cl_program>>, std::less<>> by_text;
};

// After a failed command, the context is not shared with devices that are opened later, because
// drivers differ in the operations that work after a failure.
struct Context {
  const Api& api;
  cl_device_id device;
  std::string description;
  int64_t memory_bytes;     // limit on block_bytes
  int64_t block_alignment;  // alignment of every buffer in device memory
  bool shares_host_memory;
  bool shares_allocations;  // kernels can access blocks of clSVMAlloc while the host does
  std::string build_options;
  Handle<cl_context> handle;
  mutable Health health;
  mutable std::atomic<bool> has_failed = false;  // a call or command of a stream has failed
  mutable std::atomic<int64_t> block_bytes = 0;  // total size of the allocated blocks
  mutable Programs programs;

  // Adds `bytes` to block_bytes, or returns false if the sum would exceed memory_bytes. The limit
  // is checked here because a driver can overcommit memory and fail at the first use of a block.
  bool reserve(int64_t bytes) const {
    int64_t before = block_bytes.load();
    do {
      if (bytes < 0 || bytes > memory_bytes - before) return false;
    } while (!block_bytes.compare_exchange_weak(before, before + bytes));
    return true;
  }
  void release(int64_t bytes) const { block_bytes -= bytes; }
};

// The context and the in-order queue of one open device. The queue is declared last, so that it is
// released before the context.
struct Session {
  std::shared_ptr<const Context> context;
  Handle<cl_command_queue> queue;
  bool has_times = false;  // the queue records the times of its commands
};

// Creates a queue that executes commands in order. Streams rely on this order instead of event
// dependencies. Errors: kDevice.
Result<Handle<cl_command_queue>> make_queue(const Context& context, bool has_times);

}  // namespace scopevm::runtime::opencl

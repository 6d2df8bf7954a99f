// Between the files of this folder: what a device, its blocks, its images and its streams share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/opencl/api.h"

namespace scopevm::runtime::opencl {

// Whether the driver has given the device up. Thread-safe.
class Health {
 public:
  // The answer of a call of the driver: Status as of check(). An error after which nothing that the
  // device held can be trusted makes the device lost.
  Status note(cl_int error, const char* call) {
    Status status = check(error, call);
    if (!means_loss(error)) return status;
    std::lock_guard<std::mutex> lock(mutex_);
    if (cause_.is_ok()) cause_ = std::move(status).with_context("the device is lost");
    is_lost_.store(true, std::memory_order_release);
    return cause_;
  }
  // Ok, or the first error that said so.
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

// One device with a context and an in-order queue. Members end in reverse order, the context last.
struct Session {
  const Api& api;
  cl_device_id device;
  std::string description;
  int64_t memory_bytes;  // that blocks may have together
  bool shares_host_memory;
  std::string build_options;
  Handle<cl_context> context;
  Handle<cl_command_queue> queue;
  mutable Health health;
};

}  // namespace scopevm::runtime::opencl

// Between the files of this folder: what the devices of a process that are one physical device
// share, and what each has of its own.
#pragma once

#include <atomic>
#include <map>
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

// The programs of a context that are in use, by their text. Thread-safe.
struct Programs {
  std::mutex mutex;  // held while one is built, so that nobody builds it beside
  std::map<std::string, std::weak_ptr<const Handle<cl_program>>, std::less<>> by_text;
};

// A physical device with the driver's context for it. Devices that are opened while one of them is
// open share it, unless something has failed in it: drivers differ in what then still works.
struct Context {
  const Api& api;
  cl_device_id device;
  std::string description;
  int64_t memory_bytes;     // that blocks may have together
  int64_t block_alignment;  // of every buffer's first byte
  bool shares_host_memory;
  std::string build_options;
  Handle<cl_context> handle;
  mutable Health health;
  mutable std::atomic<bool> has_failed = false;
  mutable std::atomic<int64_t> block_bytes = 0;
  mutable Programs programs;

  // Takes bytes of those that blocks may have together: a driver may promise more than it has and
  // fail at the first use. False when there are not so many.
  bool reserve(int64_t bytes) const {
    int64_t before = block_bytes.load();
    do {
      if (bytes < 0 || bytes > memory_bytes - before) return false;
    } while (!block_bytes.compare_exchange_weak(before, before + bytes));
    return true;
  }
  void give_back(int64_t bytes) const { block_bytes -= bytes; }
};

// A context with an in-order queue of one device's own. Members end in reverse order.
struct Session {
  std::shared_ptr<const Context> context;
  Handle<cl_command_queue> queue;
};

}  // namespace scopevm::runtime::opencl

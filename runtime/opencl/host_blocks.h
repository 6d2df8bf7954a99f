// HostBlocks: blocks of the host's memory that the driver has made for its copies: buffers that lie
// there and stay mapped. Drivers of devices with memory of their own pin such pages, and know a
// copy from or to them by its address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/opencl/context.h"

namespace scopevm::runtime::opencl {

// Thread-safe.
class HostBlocks {
 public:
  explicit HostBlocks(std::shared_ptr<const Session> session) : session_(std::move(session)) {}
  ~HostBlocks();
  HostBlocks(const HostBlocks&) = delete;
  HostBlocks& operator=(const HostBlocks&) = delete;

  // Null when the driver has no room. Waits for what was asked of the device before: an allocator
  // keeps blocks.
  void* allocate(int64_t bytes);
  void deallocate(void* block);

 private:
  void unmap(cl_mem buffer, void* block);

  std::shared_ptr<const Session> session_;
  std::mutex mutex_;
  std::map<void*, Handle<cl_mem>> buffers_;  // by where they are mapped
};

}  // namespace scopevm::runtime::opencl

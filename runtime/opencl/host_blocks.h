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

// Thread-safe. Both calls wait for what was asked of the device before: an allocator keeps blocks.
class HostBlocks {
 public:
  explicit HostBlocks(std::shared_ptr<const Session> session) : session_(std::move(session)) {}
  ~HostBlocks();
  HostBlocks(const HostBlocks&) = delete;
  HostBlocks& operator=(const HostBlocks&) = delete;

  // At a multiple of `alignment`, a power of two. Null when the driver has no room, or, where the
  // device shares the host's memory, when its blocks have all of it.
  void* allocate(int64_t bytes, int64_t alignment);
  void deallocate(void* block);

 private:
  struct Block {
    Handle<cl_mem> buffer;
    void* mapped = nullptr;
    int64_t bytes = 0;  // of the device's memory
  };

  void* make(int64_t bytes, int64_t alignment, int64_t reserved);
  void unmap(const Block& block);

  std::shared_ptr<const Session> session_;
  std::mutex mutex_;
  std::map<void*, Block> blocks_;  // by what allocate() gave
};

}  // namespace scopevm::runtime::opencl

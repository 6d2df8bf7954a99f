// HostBlocks: pinned host memory, as OpenCL buffers that are allocated in host memory and remain
// mapped. Drivers of discrete devices pin such pages and recognise copies from and to them by
// address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/opencl/context.h"

namespace scopevm::runtime::opencl {

// Thread-safe. Both methods wait for earlier work of the device, so allocators should cache blocks.
class HostBlocks {
 public:
  explicit HostBlocks(std::shared_ptr<const Session> session) : session_(std::move(session)) {}
  ~HostBlocks();
  HostBlocks(const HostBlocks&) = delete;
  HostBlocks& operator=(const HostBlocks&) = delete;

  // Allocates a block; `alignment` is a power of two. Returns null if the driver is out of memory.
  // On a device that shares host memory, also returns null if all blocks together would exceed the
  // size of that memory.
  void* allocate(int64_t bytes, int64_t alignment);
  void deallocate(void* block);

 private:
  struct Block {
    Handle<cl_mem> buffer;
    void* mapped = nullptr;
    int64_t bytes = 0;  // charged to Context::block_bytes
  };

  void* make(int64_t bytes, int64_t alignment, int64_t reserved);
  void unmap(const Block& block);

  std::shared_ptr<const Session> session_;
  std::mutex mutex_;
  std::map<void*, Block> blocks_;  // keyed by the address that allocate() returned
};

}  // namespace scopevm::runtime::opencl

// SharedBlocks: host memory that kernels of the device access in place: fine-grained shared virtual
// memory of OpenCL. Each block is also a buffer, because kernels take buffers and offsets.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/opencl/context.h"
#include "runtime/opencl/memory/blocks.h"

namespace scopevm::runtime::opencl {

// Thread-safe.
class SharedBlocks {
 public:
  explicit SharedBlocks(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  ~SharedBlocks();
  SharedBlocks(const SharedBlocks&) = delete;
  SharedBlocks& operator=(const SharedBlocks&) = delete;

  // Allocates a block; `alignment` is a power of two. Returns null if out of memory, or if the
  // device shares no memory.
  void* allocate(int64_t bytes, int64_t alignment);
  // REQUIRES: work on the block has ended.
  void deallocate(const void* block);
  // The buffer and offset of an address in a block; none for other addresses.
  std::optional<BufferOffset> find(const void* address) const;

 private:
  struct Free {
    const Context* context;
    void operator()(void* allocation) const {
      context->api.clSVMFree(context->handle.get(), allocation);
    }
  };
  struct Block {
    std::unique_ptr<void, Free> allocation;  // the start of the buffer
    Handle<cl_mem> buffer;                   // released before its memory, because it is later
    int64_t bytes = 0;                       // of the buffer; charged to Context::block_bytes
  };

  void* make(int64_t bytes, int64_t alignment);

  std::shared_ptr<const Context> context_;
  mutable std::mutex mutex_;
  std::map<const void*, Block> blocks_;  // keyed by the address that allocate() returned
};

}  // namespace scopevm::runtime::opencl

// Blocks: the buffers of a device. Each buffer has a reserved, inaccessible address range, so that
// an address in the range identifies a buffer and an offset.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/opencl/context.h"

namespace scopevm::runtime::opencl {

struct BufferOffset {
  cl_mem buffer;
  uint64_t offset;
};

class Blocks {
 public:
  explicit Blocks(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // Returns null if address space or device memory is exhausted.
  void* allocate(int64_t bytes);
  void deallocate(void* block);
  // Returns the buffer and offset of the range of `bytes` bytes at `address`. An empty range at the
  // end of a block is within the block. Errors: kInternal (the range is not within one block).
  Result<BufferOffset> find(const void* address, int64_t bytes) const;

 private:
  struct Block {
    Handle<cl_mem> buffer;
    int64_t bytes = 0;
    void* address = nullptr;
    size_t reserved = 0;
  };

  void* make(int64_t bytes);  // REQUIRES: mutex_ is held

  std::shared_ptr<const Context> context_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;  // keyed by start address
};

}  // namespace scopevm::runtime::opencl

// Blocks: the buffers of a device, each with a range of addresses that nobody may touch, so that
// what holds an address of the range can be traced to its buffer and offset.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/opencl/context.h"

namespace scopevm::runtime::opencl {

struct Place {
  cl_mem buffer;
  uint64_t offset;
};

class Blocks {
 public:
  explicit Blocks(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // Null when the addresses or the device's memory do not suffice.
  void* allocate(int64_t bytes);
  void deallocate(void* block);
  // Where `bytes` at `address` lie. The end of a block belongs to it. Errors: kInternal when they
  // are not within one block.
  Result<Place> find(const void* address, int64_t bytes) const;

 private:
  struct Block {
    Handle<cl_mem> buffer;
    int64_t bytes = 0;
    void* address = nullptr;
    size_t reserved = 0;
  };

  void* make(int64_t bytes);  // REQUIRES mutex_

  std::shared_ptr<const Context> context_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;  // by first address
};

}  // namespace scopevm::runtime::opencl

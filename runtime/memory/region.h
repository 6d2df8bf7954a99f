// Region: memory that a session reserved for one call at a time. The call takes its storages from
// one end. The region is free again when the call has ended and its results are released.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "scopevm/allocator.h"

namespace scopevm::runtime {

class Region {
 public:
  // Null if the allocator has no memory.
  static std::unique_ptr<Region> make(std::shared_ptr<Allocator> allocator, int64_t bytes) {
    void* data = allocator->allocate(bytes);
    if (data == nullptr) return nullptr;
    return std::unique_ptr<Region>(new Region(std::move(allocator), data, bytes));
  }
  ~Region() { allocator_->deallocate(data_, bytes_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  int64_t bytes() const { return bytes_; }

  // Begins the use by a call.
  void begin() {
    used_.store(0, std::memory_order_relaxed);
    users_.store(1, std::memory_order_relaxed);
  }
  // Takes a block whose start is a multiple of `alignment`. Returns null if too few bytes are left.
  // Only the thread of the call may use it.
  void* take(int64_t bytes, int64_t alignment) {
    // Only the call itself uses the region, so no other thread changes `used_`.
    if (users_.load(std::memory_order_acquire) == 1) used_.store(0, std::memory_order_relaxed);
    if (bytes > bytes_) return nullptr;
    const int64_t size = rounded(bytes, alignment);
    int64_t start = used_.load(std::memory_order_relaxed);
    do {
      if (size > bytes_ - start) return nullptr;
    } while (!used_.compare_exchange_weak(start, start + size, std::memory_order_relaxed));
    users_.fetch_add(1, std::memory_order_relaxed);
    return static_cast<std::byte*>(data_) + start;
  }
  // Returns a block that take() returned for the same arguments. The room of the block that was
  // taken last can be taken again. Any thread.
  void release(void* block, int64_t bytes, int64_t alignment) {
    const int64_t start = static_cast<std::byte*>(block) - static_cast<std::byte*>(data_);
    int64_t end = start + rounded(bytes, alignment);
    used_.compare_exchange_strong(end, start, std::memory_order_relaxed);
  }
  // Ends the use by the call or by a block. Returns whether the region is free now.
  bool end_use() { return users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

 private:
  Region(std::shared_ptr<Allocator> allocator, void* data, int64_t bytes)
      : allocator_(std::move(allocator)), data_(data), bytes_(bytes) {}

  // REQUIRES: `bytes` is at most the size of a region, so the sum does not overflow.
  static int64_t rounded(int64_t bytes, int64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  const std::shared_ptr<Allocator> allocator_;
  void* const data_;
  const int64_t bytes_;
  std::atomic<int64_t> used_{0};   // bytes from the start; blocks are below
  std::atomic<int32_t> users_{0};  // the call and the blocks
};

}  // namespace scopevm::runtime

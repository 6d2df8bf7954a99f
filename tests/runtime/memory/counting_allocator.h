// CountingAllocator: counts live bytes, peak and allocations exactly, for allocators that do not,
// or whose counters other users share.
#pragma once

#include <cstdint>

#include "runtime/memory/counters.h"
#include "runtime/memory/wrappers.h"

namespace scopevm::runtime {

class CountingAllocator final : public ForwardingAllocator {
 public:
  using ForwardingAllocator::ForwardingAllocator;

  void* allocate(int64_t bytes) override {
    void* block = inner().allocate(bytes);
    if (block != nullptr) counters_.add(bytes);
    return block;
  }
  void deallocate(void* block, int64_t bytes) override {
    inner().deallocate(block, bytes);
    counters_.subtract(bytes);
  }
  AllocatorStats stats() const override {
    AllocatorStats stats = inner().stats();
    const AllocatorStats counted = counters_.read(0);
    stats.live_bytes = counted.live_bytes;
    stats.peak_bytes = counted.peak_bytes;
    stats.allocations = counted.allocations;
    return stats;
  }

 private:
  MemoryCounters counters_;
};

}  // namespace scopevm::runtime

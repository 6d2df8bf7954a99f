// DirectAllocator: passes each request to the source and caches nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/memory/counters.h"
#include "runtime/memory/sources/block_sources.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {

class DirectAllocator final : public Allocator {
 public:
  DirectAllocator(std::shared_ptr<BlockSource> source, int64_t alignment)
      : source_(std::move(source)), alignment_(alignment) {}

  void* allocate(int64_t bytes) override {
    if (bytes < 0) return nullptr;
    void* block = allocate_without_exceptions(*source_, bytes, alignment_);
    if (block != nullptr) counters_.add(bytes);
    return block;
  }
  void deallocate(void* block, int64_t bytes) override {
    source_->deallocate(block, bytes);
    counters_.subtract(bytes);
  }
  AllocatorStats stats() const override {
    AllocatorStats stats = counters_.read(0);
    stats.reserved_bytes = stats.live_bytes;
    stats.upstream_calls = stats.allocations;
    return stats;
  }
  void trim() override {}

 private:
  const std::shared_ptr<BlockSource> source_;
  const int64_t alignment_;
  MemoryCounters counters_;
};

}  // namespace scopevm::runtime

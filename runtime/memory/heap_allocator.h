// HeapAllocator: recycles blocks by size class, for storages that come and go one by one (results).
// Keeps at most as many bytes as were live lately, or 1 MiB: one large request does not stay.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "runtime/memory/counters.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {

class HeapAllocator final : public Allocator {
 public:
  // Blocks at multiples of `alignment`.
  explicit HeapAllocator(int64_t alignment = kBlockAlignment) : alignment_(alignment) {}
  ~HeapAllocator() override;
  void* allocate(int64_t bytes) override;
  void deallocate(void* block, int64_t bytes) override;
  AllocatorStats stats() const override;
  void trim() override;

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  static constexpr int kClasses = 160;

  int64_t retained_bytes() const;
  void shrink_to(int64_t bytes);

  const int64_t alignment_;
  MemoryCounters counters_;
  mutable std::mutex mutex_;  // guards what follows
  std::array<FreeBlock*, kClasses> free_{};
  int64_t cached_bytes_ = 0;
  RecentPeak recent_live_;
};

}  // namespace scopevm::runtime

// HeapAllocator: a segregated free-list allocator, for storages with individual lifetimes (results,
// lists, strings). The cache holds at most 1 MiB or the recent maximum of live bytes, whichever is
// larger. The memory of a single large request is therefore released after a number of smaller
// requests.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "runtime/memory/counters.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {

class HeapAllocator final : public Allocator {
 public:
  // `alignment` is the alignment of every block, in bytes.
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
  mutable std::mutex mutex_;  // guards the members below
  std::array<FreeBlock*, kClasses> free_{};
  int64_t cached_bytes_ = 0;
  RecentPeak recent_live_;
};

}  // namespace scopevm::runtime

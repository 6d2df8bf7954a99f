// StackAllocator: one block of a fixed size that is allocated from both ends. An allocation adds to
// the low or the high end. A block that is deallocated before later blocks of its end stays
// occupied until these are deallocated: memory is best used if the order of deallocations of each
// end is the reverse of that of allocations.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/memory/sources/block_sources.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {

class StackAllocator final : public Allocator {
 public:
  // Blocks of at least `high_from` bytes are allocated at the high end; negative: none.
  StackAllocator(std::shared_ptr<BlockSource> source, int64_t capacity, int64_t alignment,
                 int64_t high_from)
      : source_(std::move(source)),
        capacity_(capacity),
        alignment_(alignment),
        high_from_(high_from) {}
  ~StackAllocator() override;

  void* allocate(int64_t bytes) override;
  void deallocate(void* block, int64_t bytes) override;
  AllocatorStats stats() const override;
  // Returns the block to the source if nothing is allocated.
  void trim() override;
  std::string describe_failure(int64_t bytes) const override;
  Result<AllocatorSnapshot> snapshot() const override;

 private:
  struct Entry {
    int64_t offset;
    int64_t bytes;
    bool is_live;
  };
  bool make_block();
  int64_t low_end() const { return low_.empty() ? 0 : low_.back().offset + low_.back().bytes; }
  int64_t high_start() const { return high_.empty() ? usable() : high_.back().offset; }
  // The capacity without the bytes after the last aligned one.
  int64_t usable() const { return capacity_ / alignment_ * alignment_; }

  const std::shared_ptr<BlockSource> source_;
  const int64_t capacity_;
  const int64_t alignment_;
  const int64_t high_from_;
  mutable std::mutex mutex_;  // guards the members below
  char* block_ = nullptr;
  std::vector<Entry> low_;   // in ascending order of offsets
  std::vector<Entry> high_;  // in descending order of offsets
  AllocatorStats counters_;  // live, peak, allocations, upstream calls
};

}  // namespace scopevm::runtime

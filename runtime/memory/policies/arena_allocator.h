// ArenaAllocator: the allocator of arenas, from which a call allocates a single block, and of all
// pools in device memory. It caches the blocks that are returned. A later allocation reuses the
// smallest cached block that is large enough. The number of blocks, in use or cached, never exceeds
// the largest number that was in use at one time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/memory/counters.h"
#include "runtime/memory/sources/block_sources.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {

class ArenaAllocator final : public Allocator {
 public:
  // Allocates host memory of the operating system, aligned to `alignment`.
  explicit ArenaAllocator(int64_t alignment = kBlockAlignment)
      : ArenaAllocator(std::make_shared<SystemSource>(), alignment) {}
  ArenaAllocator(std::shared_ptr<BlockSource> source, int64_t alignment)
      : source_(std::move(source)), alignment_(alignment) {}
  ~ArenaAllocator() override;
  void* allocate(int64_t bytes) override;
  void deallocate(void* block, int64_t bytes) override;
  AllocatorStats stats() const override;
  void trim() override;
  std::string describe_failure(int64_t bytes) const override;

 private:
  struct Block {
    void* data;
    int64_t capacity;
  };

  void* allocate_block(int64_t bytes);

  // The following four REQUIRE that mutex_ is held.
  bool make_room_for_one_block();
  void* reuse(int64_t bytes);
  int64_t discard_largest();
  void discard_all();

  const std::shared_ptr<BlockSource> source_;
  const int64_t alignment_;
  MemoryCounters counters_;
  mutable std::mutex mutex_;   // guards the members below
  std::vector<Block> cached_;  // has capacity for all blocks: deallocate() cannot fail
  std::vector<Block> in_use_;  // searched linearly; in an arena, one block per concurrent call
  RecentPeak recent_request_;
  int64_t upstream_calls_ = 0;
};

}  // namespace scopevm::runtime

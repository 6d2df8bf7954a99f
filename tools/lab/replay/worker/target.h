// The two kinds of allocators under measurement, with the same functions: malloc() and the
// allocators of scopevm. A template parameter of the replay, so that no call is virtual that is not
// virtual in the allocator itself.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "tools/lab/replay/worker/schedule.h"

namespace scopevm::lab {

// The state of a slot.
struct Slot {
  void* block;
  uint64_t size;
};

class MallocTarget {
 public:
  void* allocate(const Operation& operation) {
    if (operation.alignment_log2 > 0)
      return memalign(size_t{1} << operation.alignment_log2, operation.size);
    return operation.is_zeroed ? std::calloc(1, operation.size) : std::malloc(operation.size);
  }
  void* reallocate(const Operation& operation, const Slot& slot) {
    return std::realloc(slot.block, operation.size);
  }
  void release(const Operation& /*operation*/, const Slot& slot) { std::free(slot.block); }
  // The sum of the usable sizes of the live blocks.
  int64_t usable_bytes(std::span<const Slot> slots) {
    int64_t usable = 0;
    for (const Slot& slot : slots) usable += static_cast<int64_t>(malloc_usable_size(slot.block));
    return usable;
  }
};

// One allocator per memory scope of the trace.
class AllocatorTarget {
 public:
  explicit AllocatorTarget(std::vector<std::shared_ptr<Allocator>> allocators)
      : allocators_(std::move(allocators)) {}

  void* allocate(const Operation& operation) {
    void* block = of(operation).allocate(static_cast<int64_t>(operation.size));
    if (operation.is_zeroed && block != nullptr) std::memset(block, 0, operation.size);
    return block;
  }
  void* reallocate(const Operation& operation, const Slot& slot) {
    void* moved = of(operation).allocate(static_cast<int64_t>(operation.size));
    if (moved == nullptr || slot.block == nullptr) return moved;
    std::memcpy(moved, slot.block, std::min(operation.size, slot.size));
    release(operation, slot);
    return moved;
  }
  void release(const Operation& operation, const Slot& slot) {
    if (slot.block != nullptr)
      of(operation).deallocate(slot.block, static_cast<int64_t>(slot.size));
  }
  int64_t usable_bytes(std::span<const Slot> /*slots*/) {
    int64_t usable = 0;
    for (const std::shared_ptr<Allocator>& allocator : allocators_) {
      const AllocatorStats stats = allocator->stats();
      usable += stats.live_bytes + stats.rounding_bytes;
    }
    return usable;
  }

 private:
  Allocator& of(const Operation& operation) { return *allocators_[operation.scope]; }

  std::vector<std::shared_ptr<Allocator>> allocators_;
};

}  // namespace scopevm::lab

// ThreadCache: the free blocks that one thread keeps, in a stack per size class, and the counters
// of the thread's allocations. It is outside the managed memory: a free block is not accessed.
//
// Access: the owner thread, after lock.try_enter() or with the lock of the pool; another thread
// with the lock of the pool, after it has excluded the owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/memory/biased_lock.h"
#include "runtime/memory/pool/size_classes.h"

namespace scopevm::runtime {

// The most blocks of a class in a thread cache: 64 blocks and 32 KiB, but at least 4 blocks.
constexpr int cache_capacity(int size_class) {
  return static_cast<int>(std::clamp<int64_t>(32768 / SizeClasses::bytes_of(size_class), 4, 64));
}

// The limit of a class in a new cache. It doubles when the thread finds no block of the class, up
// to the capacity. A thread that only deallocates, such as one that releases results of calls that
// ran on other threads, therefore keeps few blocks.
inline constexpr int kFirstCacheLimit = 4;

class ThreadCache {
 public:
  ThreadCache() {
    void** next = blocks_.data();
    for (int c = 0; c < SizeClasses::kCount; ++c) {
      Stack& stack = stacks_[static_cast<size_t>(c)];
      stack.begin = stack.end = next;
      next += cache_capacity(c);
    }
    reset_limits();
  }

  // For a new owner. REQUIRES: the stacks are empty.
  void reset_limits() {
    for (Stack& stack : stacks_) stack.limit = stack.begin + kFirstCacheLimit;
  }

  // The following two are the common case of the pool. They compile to about 20 instructions
  // without a locked one. They return null or false if the pool's lock is needed: the stack is
  // empty or full, the owner is excluded, the grant does not suffice, or the pool must add up the
  // counters.
  void* allocate(int size_class, int64_t bytes) {
    Stack& stack = stacks_[static_cast<size_t>(size_class)];
    if (!lock.try_enter()) [[unlikely]]
      return nullptr;
    void* block = nullptr;
    if (stack.end != stack.begin && allocations < kBatch && bytes <= grant - live) [[likely]] {
      block = *--stack.end;
      count_allocation(bytes);
    }
    lock.leave();
    return block;
  }
  bool deallocate(int size_class, void* block, int64_t bytes) {
    Stack& stack = stacks_[static_cast<size_t>(size_class)];
    if (!lock.try_enter()) [[unlikely]]
      return false;
    const bool has_room = stack.end != stack.limit;
    if (has_room) [[likely]] {
      *stack.end++ = block;
      live -= bytes;
    }
    lock.leave();
    return has_room;
  }

  void count_allocation(int64_t bytes) {
    live += bytes;
    peak = std::max(peak, live);
    ++allocations;
  }

  // Allocations until the pool adds up the counters.
  static constexpr int64_t kBatch = 64;
  // The grant in a pool without a limit. `grant - live` does not overflow.
  static constexpr int64_t kUnlimited = INT64_MAX / 2;
  struct Stack {
    void** begin;
    void** end;    // after the last block
    void** limit;  // the stack is full here
  };
  Stack& stack(int size_class) { return stacks_[static_cast<size_t>(size_class)]; }
  const Stack& stack(int size_class) const { return stacks_[static_cast<size_t>(size_class)]; }

  BiasedLock lock;
  int64_t live = 0;             // allocated minus deallocated bytes since the pool added them up
  int64_t peak = 0;             // maximum of `live` since then
  int64_t allocations = 0;      // since then
  int64_t grant = kUnlimited;   // maximum of `live`: a part of the pool's limit
  bool is_owned = true;         // by a thread
  ThreadCache* next = nullptr;  // of the pool

 private:
  static constexpr size_t kBlocks = [] {
    size_t total = 0;
    for (int c = 0; c < SizeClasses::kCount; ++c) total += static_cast<size_t>(cache_capacity(c));
    return total;
  }();
  std::array<Stack, SizeClasses::kCount> stacks_;
  std::array<void*, kBlocks> blocks_;
};

}  // namespace scopevm::runtime

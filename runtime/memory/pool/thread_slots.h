// ThreadSlots: finds the ThreadCache of the calling thread in a pool, and returns the caches of a
// thread when it ends.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/memory/pool/thread_cache.h"

namespace scopevm::runtime {

class PoolAllocator;

class ThreadSlots {
 public:
  // The cache of the calling thread in the pool with this id; null if it is not in the table. Ids
  // are never used again, so that the entry of a destroyed pool is not found.
  static ThreadCache* find(uint64_t pool) {
    const Slot& slot = slots_[pool % kSlots];
    return slot.pool == pool ? slot.cache : nullptr;
  }
  // Like find(), but searches all caches of the thread.
  static ThreadCache* find_any(uint64_t pool);
  // Adds a cache of the calling thread. Returns false if memory is exhausted.
  static bool add(uint64_t pool, ThreadCache* cache);

  // Empties the table of the calling thread.
  static void clear();

  // Pools that exist: a thread that ends returns its caches to them.
  static uint64_t register_pool(PoolAllocator* pool);
  static void unregister_pool(uint64_t pool);

 private:
  static constexpr uint64_t kSlots = 8;
  struct Slot {
    uint64_t pool;
    ThreadCache* cache;
  };
  // The offset from the thread pointer is a constant of the loaded library, so that an access needs
  // no call of __tls_get_addr().
  [[gnu::tls_model("initial-exec")]] static thread_local constinit std::array<Slot, kSlots> slots_;
};

}  // namespace scopevm::runtime

// The caches of each thread, and the pools that exist; see thread_slots.h.
#include "runtime/memory/pool/thread_slots.h"

#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "runtime/memory/pool/pool_allocator.h"

namespace scopevm::runtime {
namespace {

struct Pools {
  std::mutex mutex;
  uint64_t next_id = 1;
  std::unordered_map<uint64_t, PoolAllocator*> by_id;
};

// Not destroyed: threads can end during the destruction of static objects.
Pools& pools() {
  static auto* const kPools = new Pools;
  return *kPools;
}

struct Entry {
  uint64_t pool;
  ThreadCache* cache;
};

// Whether the entries of the thread are destroyed: it then has no caches.
thread_local constinit bool has_ended = false;

struct ThreadEntries {
  std::vector<Entry> entries;
  ~ThreadEntries() {
    has_ended = true;
    ThreadSlots::clear();
    std::lock_guard lock(pools().mutex);
    for (const Entry& entry : entries)
      if (const auto pool = pools().by_id.find(entry.pool); pool != pools().by_id.end())
        pool->second->return_cache(entry.cache);
  }
};
thread_local ThreadEntries thread_entries;

}  // namespace

thread_local constinit std::array<ThreadSlots::Slot, ThreadSlots::kSlots> ThreadSlots::slots_{};

void ThreadSlots::clear() { slots_.fill({}); }

ThreadCache* ThreadSlots::find_any(uint64_t pool) {
  if (has_ended) return nullptr;
  for (const Entry& entry : thread_entries.entries)
    if (entry.pool == pool) {
      slots_[pool % kSlots] = {pool, entry.cache};
      return entry.cache;
    }
  return nullptr;
}

bool ThreadSlots::add(uint64_t pool, ThreadCache* cache) try {
  if (has_ended) return false;
  std::lock_guard lock(pools().mutex);
  // The entries of destroyed pools are removed here, so that the list stays short.
  std::erase_if(thread_entries.entries,
                [](const Entry& entry) { return !pools().by_id.contains(entry.pool); });
  thread_entries.entries.push_back({pool, cache});
  slots_[pool % kSlots] = {pool, cache};
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

uint64_t ThreadSlots::register_pool(PoolAllocator* pool) {
  std::lock_guard lock(pools().mutex);
  const uint64_t id = pools().next_id++;
  pools().by_id.emplace(id, pool);
  return id;
}

void ThreadSlots::unregister_pool(uint64_t pool) {
  std::lock_guard lock(pools().mutex);
  pools().by_id.erase(pool);
}

}  // namespace scopevm::runtime

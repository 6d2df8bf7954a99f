// PoolAllocator: the general allocator, for blocks of all sizes and lifetimes.
//
//   block        memory of one allocate(): from a slab up to 32 KiB, else a run of pages
//   thread cache the free blocks of a thread, per size class    thread_cache.h, thread_slots.h
//   slab         a run of pages that holds blocks of one class  slabs.h, size_classes.h
//   run          consecutive pages                              pages/: free and used runs.
//                Slabs have an address range of their own, because a slab between large runs would
//                divide the free memory there as long as it has a live block
//   segment      a range of addresses or a block of a source    pages/: commit, decommit
//   retention    how much free memory stays committed           pages/page_allocator.h
//
//   allocate(bytes)   thread cache -> slabs (a batch under the pool's lock) -> runs -> segments
//
// All metadata is outside the managed memory, so the pool can manage memory that the host cannot
// access. A block of a slab returns to the cache of the thread that deallocates it.
//
// Counters: each thread counts its blocks up to 32 KiB. The pool adds the counters up when a thread
// uses the pool's lock, and in stats(). Live bytes and allocations are exact. The peak is exact if
// one thread allocates. Otherwise it can miss up to 64 blocks of each other thread.
//
// Limit: the pool grants parts of the limit to thread caches, by which their live bytes can grow
// without the lock. The live bytes and all grants never exceed the limit. An allocation that does
// not fit revokes all grants first, so the limit is exact to the byte.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/memory/pool/pages/page_allocator.h"
#include "runtime/memory/pool/slabs.h"
#include "runtime/memory/pool/spin_lock.h"
#include "runtime/memory/pool/thread_cache.h"
#include "scopevm/allocators.h"

namespace scopevm::runtime {

class PoolAllocator final : public Allocator {
 public:
  // Uses the options of "pool" in AllocatorOptions. If the system refuses the memory of the tables,
  // every allocation fails.
  explicit PoolAllocator(const AllocatorOptions& options = {});
  ~PoolAllocator() override;

  void* allocate(int64_t bytes) override;
  void deallocate(void* block, int64_t bytes) override;
  AllocatorStats stats() const override;
  void trim() override;
  std::string describe_failure(int64_t bytes) const override;
  Result<AllocatorSnapshot> snapshot() const override;

  // Called when the owner of a cache of this pool ends.
  void return_cache(ThreadCache* cache);

 private:
  PoolAllocator(const AllocatorOptions& options, const PageSpace::Options& space);
  void* allocate_slowly(int64_t bytes);
  void* try_allocate(int64_t bytes);
  void* allocate_small(int size_class, int64_t bytes);
  void* allocate_large(int64_t bytes);
  void* allocate_run(int64_t bytes);
  void deallocate_small(void* block, int64_t bytes);
  void deallocate_run(void* block, int64_t bytes);
  bool is_small(int64_t bytes) const { return static_cast<uint64_t>(bytes) < small_end_; }
  bool has_tables() const { return valid_end_ != 0; }
  bool is_valid(int64_t bytes) const { return static_cast<uint64_t>(bytes) < valid_end_; }

  ThreadCache* cache_of_thread();
  ThreadCache* make_cache();
  void* refill(ThreadCache& cache, int size_class);
  void flush(ThreadCache& cache, int size_class, int kept);
  void add_up(ThreadCache& cache) const;
  bool fits_limit(ThreadCache* cache, int64_t bytes);
  void revoke_grant(ThreadCache& cache) const;
  void count(ThreadCache* cache, int64_t bytes);

  int64_t cached_in_threads() const;
  int64_t block_bytes() const;
  int64_t committed_bytes() const {
    return slab_pages_.space().committed_bytes() + pages_.space().committed_bytes();
  }

  const AllocatorOptions options_;
  const SizeClasses classes_;
  const uint64_t small_end_;  // requests below this size are blocks of slabs
  const bool has_limit_;
  uint64_t valid_end_ = 0;  // larger requests are rejected; 0: the tables are not reserved
  uint64_t id_ = 0;         // of ThreadSlots

  mutable SpinLock lock_;  // guards the members below, and the caches that are not owned
  PageAllocator slab_pages_;
  PageAllocator pages_;  // of the blocks that are runs
  Slabs slabs_;
  ThreadCache* caches_ = nullptr;  // list of all caches
  mutable int64_t live_ = 0;       // without the counters of caches since they were added up
  mutable int64_t peak_ = 0;
  mutable int64_t allocations_ = 0;
  mutable int64_t granted_ = 0;  // the sum of the grants of all caches; 0 without a limit
};

}  // namespace scopevm::runtime

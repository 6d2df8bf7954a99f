// Allocation, deallocation and the steps when memory is exhausted; see pool_allocator.h.
#include "runtime/memory/pool/pool_allocator.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "runtime/memory/pool/all_caches.h"
#include "runtime/memory/pool/thread_slots.h"

namespace scopevm::runtime {
namespace {

// 4 TiB, more than a pool has pages: the pages of a request fit in 32 bits. Larger requests are
// rejected without a search.
constexpr int64_t kMaxBytes = int64_t{1} << 42;
// A grant is at most this part of the rest of the limit, so that several threads have grants.
constexpr int64_t kGrantShare = 8;
// A thread allocates at most 64 blocks of 32 KiB before the pool adds up its counters.
constexpr int64_t kMaxGrant = int64_t{2} << 20;

PageSpace::Options space_options(const AllocatorOptions& options) {
  return {.source = options.source,
          .budget = std::make_shared<CommitBudget>(
              CommitBudget{.capacity_bytes = options.capacity_bytes}),
          .chunk_bytes = (options.chunk_bytes + kPageBytes - 1) / kPageBytes * kPageBytes,
          .alignment = options.alignment,
          .huge_pages = options.huge_pages};
}

// At least one page, also for 0 bytes.
uint32_t pages_of(int64_t bytes) {
  const auto size = static_cast<uint64_t>(std::max<int64_t>(bytes, 1));
  return static_cast<uint32_t>((size + kPageBytes - 1) / kPageBytes);
}

// Runs are longer than the largest block of a slab. With an alignment above a page, short ones are
// multiples of it.
uint32_t run_granularity(int64_t alignment) {
  return alignment <= kPageBytes ? SizeClasses::kMaxBytes / kPageBytes : pages_of(alignment);
}

}  // namespace

PoolAllocator::PoolAllocator(const AllocatorOptions& options)
    : PoolAllocator(options, space_options(options)) {}

PoolAllocator::PoolAllocator(const AllocatorOptions& options, const PageSpace::Options& space)
    : options_(options),
      classes_(options_.alignment),
      // Slabs start at a page, so they cannot align blocks to more than a page.
      small_end_(options_.alignment <= kPageBytes ? SizeClasses::kMaxBytes + 1 : 0),
      has_limit_(options_.limit_bytes >= 0),
      slab_pages_(space, 1, 1),
      pages_(space, pages_of(options_.alignment), run_granularity(options_.alignment)),
      slabs_(slab_pages_) {
  if (slab_pages_.reserve() && pages_.reserve() && slabs_.reserve()) valid_end_ = kMaxBytes + 1;
  id_ = ThreadSlots::register_pool(this);
}

PoolAllocator::~PoolAllocator() {
  ThreadSlots::unregister_pool(id_);
  while (caches_ != nullptr) delete std::exchange(caches_, caches_->next);
}

void* PoolAllocator::allocate(int64_t bytes) {
  if (!is_small(bytes)) return allocate_large(bytes);
  if (ThreadCache* cache = ThreadSlots::find(id_)) [[likely]]
    if (void* block = cache->allocate(classes_.class_of(bytes), bytes)) [[likely]]
      return block;
  return allocate_slowly(bytes);
}

void PoolAllocator::deallocate(void* block, int64_t bytes) {
  if (!is_small(bytes)) return deallocate_run(block, bytes);
  if (ThreadCache* cache = ThreadSlots::find(id_)) [[likely]]
    if (cache->deallocate(classes_.class_of(bytes), block, bytes)) [[likely]]
      return;
  deallocate_small(block, bytes);
}

void* PoolAllocator::allocate_large(int64_t bytes) {
  if (is_valid(bytes)) [[likely]]
    if (void* block = allocate_run(bytes)) [[likely]]
      return block;
  return allocate_slowly(bytes);
}

void* PoolAllocator::allocate_slowly(int64_t bytes) {
  if (!is_valid(bytes)) return nullptr;
  if (void* block = try_allocate(bytes)) return block;
  // Slabs and runs that free blocks in thread caches keep occupied can serve the request.
  trim();
  if (void* block = try_allocate(bytes)) return block;
  while (options_.on_exhausted && options_.on_exhausted(bytes))
    if (void* block = try_allocate(bytes)) return block;
  return nullptr;
}

void* PoolAllocator::try_allocate(int64_t bytes) {
  return is_small(bytes) ? allocate_small(classes_.class_of(bytes), bytes) : allocate_run(bytes);
}

void* PoolAllocator::allocate_small(int size_class, int64_t bytes) {
  ThreadCache* cache = cache_of_thread();
  std::lock_guard lock(lock_);
  if (!fits_limit(cache, bytes)) return nullptr;
  slab_pages_.step();
  pages_.step();
  void* block = nullptr;
  if (cache != nullptr) {
    block = refill(*cache, size_class);
  } else if (slabs_.allocate(size_class, &block, 1) == 0) {
    return nullptr;
  }
  if (block != nullptr) count(cache, bytes);
  return block;
}

// Takes a block from a cache, after filling its stack if it is empty. REQUIRES: lock_ is held.
void* PoolAllocator::refill(ThreadCache& cache, int size_class) {
  ThreadCache::Stack& stack = cache.stack(size_class);
  if (stack.end == stack.begin) {
    const auto limit = static_cast<int>(stack.limit - stack.begin);
    stack.end += slabs_.allocate(size_class, stack.begin, limit / 2);
    stack.limit = stack.begin + std::min(2 * limit, cache_capacity(size_class));
    // The first block in the stack is allocated last: blocks are allocated in address order.
    std::reverse(stack.begin, stack.end);
    if (stack.end == stack.begin) return nullptr;
  }
  return *--stack.end;
}

void* PoolAllocator::allocate_run(int64_t bytes) {
  ThreadCache* cache = ThreadSlots::find(id_);
  std::lock_guard lock(lock_);
  if (!fits_limit(cache, bytes)) return nullptr;
  const RunId run = pages_.allocate(pages_of(bytes));
  if (run == 0) return nullptr;
  count(cache, bytes);
  return pages_.address(run);
}

void PoolAllocator::deallocate_run(void* block, int64_t bytes) {
  ThreadCache* cache = ThreadSlots::find(id_);
  // A cache miss of the table overlaps with the lock.
  const RunId run = pages_.run_of_unlocked(block);
  std::lock_guard lock(lock_);
  if (cache != nullptr) add_up(*cache);
  live_ -= bytes;
  pages_.release(run != 0 ? run : pages_.run_of(block));
}

void PoolAllocator::deallocate_small(void* block, int64_t bytes) {
  ThreadCache* cache = cache_of_thread();
  std::lock_guard lock(lock_);
  if (cache != nullptr) add_up(*cache);
  live_ -= bytes;
  if (cache == nullptr) return slabs_.release(block);
  const int size_class = classes_.class_of(bytes);
  ThreadCache::Stack& stack = cache->stack(size_class);
  if (stack.end == stack.limit)
    flush(*cache, size_class, static_cast<int>(stack.limit - stack.begin) / 2);
  *stack.end++ = block;
}

// Returns the blocks of a stack that were deallocated first, until `kept` are left. REQUIRES: lock_
// is held.
void PoolAllocator::flush(ThreadCache& cache, int size_class, int kept) {
  ThreadCache::Stack& stack = cache.stack(size_class);
  void** const first_kept = std::max(stack.begin, stack.end - kept);
  for (void** block = stack.begin; block != first_kept; ++block) slabs_.release(*block);
  stack.end = std::move(first_kept, stack.end, stack.begin);
}

// Counts an allocation by the thread that owns `cache` (null: none). REQUIRES: lock_ is held.
void PoolAllocator::count(ThreadCache* cache, int64_t bytes) {
  if (cache != nullptr) add_up(*cache);
  live_ += bytes;
  peak_ = std::max(peak_, live_);
  ++allocations_;
  if (!has_limit_ || cache == nullptr) return;
  const int64_t room = options_.limit_bytes - live_ - granted_;
  cache->grant = std::min(room / kGrantShare, kMaxGrant);
  granted_ += cache->grant;
}

// Whether another `bytes` live bytes are within the limit. Revokes the grant of `cache`, and all
// others if necessary. REQUIRES: lock_ is held.
bool PoolAllocator::fits_limit(ThreadCache* cache, int64_t bytes) {
  if (!has_limit_) return true;
  if (cache != nullptr) revoke_grant(*cache);
  const auto fits = [&] { return bytes <= options_.limit_bytes - live_ - granted_; };
  if (fits()) return true;
  const AllCaches excluded(caches_);
  for (ThreadCache* other = caches_; other != nullptr; other = other->next) revoke_grant(*other);
  return fits();
}

// REQUIRES: the pool has a limit; lock_ is held, and the owner of the cache is excluded or the
// caller.
void PoolAllocator::revoke_grant(ThreadCache& cache) const {
  add_up(cache);
  granted_ -= std::exchange(cache.grant, 0);
}

// Adds the counters of a cache to those of the pool. REQUIRES: lock_ is held.
void PoolAllocator::add_up(ThreadCache& cache) const {
  peak_ = std::max(peak_, live_ + cache.peak);
  if (has_limit_) {
    // Bytes of other caches that are deallocated but not added up yet can make the sum too large.
    peak_ = std::min(peak_, options_.limit_bytes);
    // The bytes that become part of live_ reduce the grant, so that the sum of both is the same.
    const int64_t used = std::max<int64_t>(cache.live, 0);
    cache.grant -= used;
    granted_ -= used;
  }
  live_ += std::exchange(cache.live, 0);
  allocations_ += std::exchange(cache.allocations, 0);
  cache.peak = 0;
}

ThreadCache* PoolAllocator::cache_of_thread() {
  if (!options_.thread_caches) return nullptr;
  if (ThreadCache* cache = ThreadSlots::find(id_)) return cache;
  if (ThreadCache* cache = ThreadSlots::find_any(id_)) return cache;
  return make_cache();
}

// Returns a cache that is not owned, or a new one; null if memory is exhausted.
ThreadCache* PoolAllocator::make_cache() {
  ThreadCache* cache = nullptr;
  {
    std::lock_guard lock(lock_);
    for (cache = caches_; cache != nullptr && cache->is_owned;) cache = cache->next;
    if (cache != nullptr) cache->is_owned = true;
  }
  if (cache == nullptr) {
    cache = new (std::nothrow) ThreadCache;
    if (cache == nullptr) return nullptr;
    if (has_limit_) cache->grant = 0;
    std::lock_guard lock(lock_);
    cache->next = std::exchange(caches_, cache);
  }
  if (ThreadSlots::add(id_, cache)) return cache;
  return_cache(cache);
  return nullptr;
}

void PoolAllocator::return_cache(ThreadCache* cache) {
  std::lock_guard lock(lock_);
  add_up(*cache);
  if (has_limit_) revoke_grant(*cache);
  for (int c = 0; c < SizeClasses::kCount; ++c) flush(*cache, c, 0);
  cache->reset_limits();
  cache->is_owned = false;
}

void PoolAllocator::trim() {
  std::lock_guard lock(lock_);
  if (valid_end_ == 0) return;
  {
    const AllCaches excluded(caches_);
    for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next)
      for (int c = 0; c < SizeClasses::kCount; ++c) flush(*cache, c, 0);
  }
  slabs_.trim();
  slab_pages_.trim();
  pages_.trim();
}

}  // namespace scopevm::runtime

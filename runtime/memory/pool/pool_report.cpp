// Statistics, snapshots and descriptions of a PoolAllocator.
#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "runtime/bytes_text.h"
#include "runtime/count_text.h"
#include "runtime/memory/pool/all_caches.h"
#include "runtime/memory/pool/pool_allocator.h"
#include "runtime/without_exceptions.h"

namespace scopevm::runtime {

// The free blocks in thread caches. REQUIRES: lock_ is held and all owners are excluded.
int64_t PoolAllocator::cached_in_threads() const {
  int64_t bytes = 0;
  for (const ThreadCache* cache = caches_; cache != nullptr; cache = cache->next)
    for (int c = 0; c < SizeClasses::kCount; ++c)
      bytes += (cache->stack(c).end - cache->stack(c).begin) * SizeClasses::bytes_of(c);
  return bytes;
}

// The sizes of all live blocks. REQUIRES: like cached_in_threads().
int64_t PoolAllocator::block_bytes() const {
  int64_t bytes = pages_.live_bytes() - cached_in_threads();
  for (int c = 0; c < SizeClasses::kCount; ++c)
    bytes += slabs_.allocated(c) * SizeClasses::bytes_of(c);
  return bytes;
}

AllocatorStats PoolAllocator::stats() const {
  if (!has_tables()) return {};
  std::lock_guard lock(lock_);
  const AllCaches excluded(caches_);
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) add_up(*cache);
  const int64_t blocks = block_bytes();
  int64_t largest_free = 0;
  if (const RunId largest = pages_.heap().find_largest(1, [](const auto&) { return true; })) {
    const PageHeap::Run& run = pages_.heap().run(largest);
    largest_free = (run.pages - pages_.space().clean_pages({run.first, run.pages})) * kPageBytes;
  }
  return {.live_bytes = live_,
          .peak_bytes = peak_,
          .cached_bytes = committed_bytes() - blocks,
          .allocations = allocations_,
          .reserved_bytes = committed_bytes(),
          .upstream_calls = slab_pages_.space().upstream_calls() + pages_.space().upstream_calls(),
          .largest_free_bytes = largest_free,
          .rounding_bytes = blocks - live_};
}

Result<AllocatorSnapshot> PoolAllocator::snapshot() const {
  return without_exceptions([&]() -> Result<AllocatorSnapshot> {
    AllocatorSnapshot snapshot;
    if (!has_tables()) return snapshot;
    std::lock_guard lock(lock_);
    const AllCaches excluded(caches_);
    std::unordered_set<const void*> cached;
    for (const ThreadCache* cache = caches_; cache != nullptr; cache = cache->next)
      for (int c = 0; c < SizeClasses::kCount; ++c)
        cached.insert(cache->stack(c).begin, cache->stack(c).end);
    for (const PageAllocator* pages : {&slab_pages_, &pages_})
      pages->for_each_run([&](RunId id, const PageHeap::Run& run) {
        const MemoryRange range{pages->address(id), run.pages * kPageBytes};
        if (run.is_free || pages == &pages_) {
          (run.is_free ? snapshot.free : snapshot.live).push_back(range);
          return;
        }
        slabs_.for_each_block(id, [&](const void* block, int64_t bytes, bool is_free) {
          (is_free || cached.contains(block) ? snapshot.free : snapshot.live)
              .push_back({block, bytes});
        });
      });
    std::ranges::sort(snapshot.live, {}, &MemoryRange::address);
    std::ranges::sort(snapshot.free, {}, &MemoryRange::address);
    return snapshot;
  });
}

namespace {

// "; most live bytes: 3 blocks of 4.0 MiB, 10 blocks of 64.0 KiB": the sizes with most live bytes.
std::string holders_text(const std::vector<MemoryRange>& live) {
  constexpr size_t kMost = 3;
  std::map<int64_t, int64_t> count_of_size;
  for (const MemoryRange& block : live) ++count_of_size[block.bytes];
  std::vector<std::pair<int64_t, int64_t>> sizes(count_of_size.begin(), count_of_size.end());
  const auto held = [](const auto& size) { return -size.first * size.second; };
  std::ranges::stable_sort(sizes, {}, held);
  std::string text;
  for (size_t i = 0; i < std::min(kMost, sizes.size()); ++i)
    text += (i == 0 ? "; most live bytes: " : ", ") + count_text(sizes[i].second, "block") +
            " of " + bytes_text(sizes[i].first);
  return text;
}

}  // namespace

std::string PoolAllocator::describe_failure(int64_t bytes) const try {
  if (!has_tables())
    return bytes_text(bytes) +
           " requested, the system refused address space (ulimit -v) for the allocator";
  const AllocatorStats now = stats();
  const int64_t limit = has_limit_ ? options_.limit_bytes : 0;
  const int64_t capacity = std::max<int64_t>(options_.capacity_bytes, 0);
  const SizeUnit unit(
      {bytes, now.live_bytes, limit, now.cached_bytes, now.largest_free_bytes, capacity});
  std::string text = unit.text(bytes) + " requested, " + unit.text(now.live_bytes) + " live";
  if (has_limit_) text += " of a limit of " + unit.text(limit);
  text += ", " + unit.text(now.cached_bytes) + " cached, largest free block " +
          unit.text(now.largest_free_bytes);
  if (options_.capacity_bytes >= 0) text += ", capacity " + unit.text(capacity);
  const Result<AllocatorSnapshot> blocks = snapshot();
  return blocks.ok() ? text + holders_text(blocks->live) : text;
} catch (...) {
  return {};
}

}  // namespace scopevm::runtime

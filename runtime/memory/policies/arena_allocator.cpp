// The block cache of ArenaAllocator; see arena_allocator.h.
#include "runtime/memory/policies/arena_allocator.h"

#include <algorithm>
#include <limits>
#include <new>

#include "runtime/bytes_text.h"

namespace scopevm::runtime {
namespace {

bool is_smaller(int64_t a, int64_t b) { return a < b; }

}  // namespace

ArenaAllocator::~ArenaAllocator() { trim(); }

void* ArenaAllocator::allocate_block(int64_t bytes) {
  ++upstream_calls_;
  return allocate_without_exceptions(*source_, bytes, alignment_);
}

// Reserves capacity in both lists for one more block, so that push_back() cannot fail in this
// allocation or in a later deallocation. Returns false if out of memory.
bool ArenaAllocator::make_room_for_one_block() try {
  const size_t blocks = in_use_.size() + cached_.size() + 1;
  if (in_use_.capacity() < blocks) in_use_.reserve(2 * blocks);
  if (cached_.capacity() < blocks) cached_.reserve(2 * blocks);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// Moves the smallest cached block that fits (best fit) to in_use_ and returns it. Returns null if
// none fits.
void* ArenaAllocator::reuse(int64_t bytes) {
  auto best = cached_.end();
  for (auto it = cached_.begin(); it != cached_.end(); ++it)
    if (it->capacity >= bytes && (best == cached_.end() || it->capacity < best->capacity))
      best = it;
  if (best == cached_.end()) return nullptr;
  in_use_.push_back(*best);
  *best = cached_.back();
  cached_.pop_back();
  return in_use_.back().data;
}

// Frees the largest cached block and returns its capacity; 0 if there is none.
int64_t ArenaAllocator::discard_largest() {
  auto largest = std::ranges::max_element(cached_, is_smaller, &Block::capacity);
  if (largest == cached_.end()) return 0;
  const int64_t capacity = largest->capacity;
  source_->deallocate(largest->data, capacity);
  *largest = cached_.back();
  cached_.pop_back();
  return capacity;
}

void ArenaAllocator::discard_all() {
  while (!cached_.empty()) discard_largest();
}

void* ArenaAllocator::allocate(int64_t bytes) {
  if (bytes < 0) return nullptr;
  std::lock_guard lock(mutex_);
  recent_request_.note(bytes);
  if (!make_room_for_one_block()) return nullptr;
  if (void* block = reuse(bytes)) {
    counters_.add(bytes);
    return block;
  }
  // A cached block that is too small is replaced, so there are never more blocks than concurrent
  // calls. The replacement has 1/8 slack, so that slowly growing requests rarely replace it again.
  int64_t capacity = bytes;
  if (discard_largest() > 0)
    capacity += std::min(bytes / 8, std::numeric_limits<int64_t>::max() - bytes);
  void* block = allocate_block(capacity);
  // The allocation may have failed because of the other cached blocks or the slack. Try again
  // without them.
  if (block == nullptr) {
    discard_all();
    capacity = bytes;
    block = allocate_block(capacity);
  }
  if (block == nullptr) return nullptr;
  in_use_.push_back({block, capacity});
  counters_.add(bytes);
  return block;
}

void ArenaAllocator::deallocate(void* block, int64_t bytes) {
  counters_.subtract(bytes);
  std::lock_guard lock(mutex_);
  // REQUIRES: the block is from this allocator.
  auto used = std::ranges::find(in_use_, block, &Block::data);
  const Block returned = *used;
  *used = in_use_.back();
  in_use_.pop_back();
  // Do not cache a block more than twice as large as the recent maximum request.
  if (returned.capacity / 2 > recent_request_.value())
    source_->deallocate(returned.data, returned.capacity);
  else
    cached_.push_back(returned);
}

AllocatorStats ArenaAllocator::stats() const {
  std::lock_guard lock(mutex_);
  int64_t cached_bytes = 0;
  int64_t largest = 0;
  for (const Block& block : cached_) {
    cached_bytes += block.capacity;
    largest = std::max(largest, block.capacity);
  }
  int64_t in_use = 0;
  for (const Block& block : in_use_) in_use += block.capacity;
  AllocatorStats stats = counters_.read(cached_bytes);
  stats.reserved_bytes = cached_bytes + in_use;
  stats.upstream_calls = upstream_calls_;
  stats.largest_free_bytes = largest;
  stats.rounding_bytes = in_use - stats.live_bytes;
  return stats;
}

std::string ArenaAllocator::describe_failure(int64_t bytes) const try {
  const AllocatorStats now = stats();
  const SizeUnit unit({bytes, now.live_bytes, now.cached_bytes, now.largest_free_bytes});
  return unit.text(bytes) + " requested, " + unit.text(now.live_bytes) + " live, " +
         unit.text(now.cached_bytes) + " cached, largest free block " +
         unit.text(now.largest_free_bytes);
} catch (...) {
  return {};
}

void ArenaAllocator::trim() {
  std::lock_guard lock(mutex_);
  discard_all();
}

}  // namespace scopevm::runtime

// The two ends of a StackAllocator; see stack_allocator.h.
#include "runtime/memory/policies/stack_allocator.h"

#include <algorithm>
#include <new>

#include "runtime/bytes_text.h"
#include "runtime/without_exceptions.h"

namespace scopevm::runtime {

StackAllocator::~StackAllocator() {
  if (block_ != nullptr) source_->deallocate(block_, capacity_);
}

bool StackAllocator::make_block() {
  if (block_ != nullptr) return true;
  ++counters_.upstream_calls;
  block_ = static_cast<char*>(allocate_without_exceptions(*source_, capacity_, alignment_));
  return block_ != nullptr;
}

void* StackAllocator::allocate(int64_t bytes) try {
  std::lock_guard lock(mutex_);
  if (bytes < 0 || bytes > capacity_ || !make_block()) return nullptr;
  const bool is_high = high_from_ >= 0 && bytes >= high_from_;
  // A block of 0 bytes has an address of its own.
  const int64_t size = std::max<int64_t>(bytes, 1);
  const int64_t rounded = (size + alignment_ - 1) / alignment_ * alignment_;
  // The last block of the low end may use the bytes after the last aligned one.
  const int64_t limit = high_.empty() ? capacity_ : high_start();
  if (!is_high && (low_end() > limit || size > limit - low_end())) return nullptr;
  if (is_high && rounded > high_start() - low_end()) return nullptr;
  const int64_t offset = is_high ? high_start() - rounded : low_end();
  (is_high ? high_ : low_).push_back({offset, rounded, true});
  counters_.live_bytes += bytes;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.live_bytes);
  ++counters_.allocations;
  return block_ + offset;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void StackAllocator::deallocate(void* block, int64_t bytes) {
  std::lock_guard lock(mutex_);
  const int64_t offset = static_cast<char*>(block) - block_;
  std::vector<Entry>& end = offset < low_end() ? low_ : high_;
  // Searches from the end: usually the last entry.
  std::find_if(end.rbegin(), end.rend(), [&](const Entry& e) {
    return e.offset == offset;
  })->is_live = false;
  while (!end.empty() && !end.back().is_live) end.pop_back();
  counters_.live_bytes -= bytes;
}

AllocatorStats StackAllocator::stats() const {
  std::lock_guard lock(mutex_);
  AllocatorStats stats = counters_;
  if (block_ == nullptr) return stats;
  stats.reserved_bytes = capacity_;
  int64_t blocks = 0;
  for (const std::vector<Entry>* end : {&low_, &high_})
    for (const Entry& entry : *end)
      if (entry.is_live) blocks += entry.bytes;
  stats.cached_bytes = std::max<int64_t>(0, capacity_ - blocks);
  stats.rounding_bytes = blocks - stats.live_bytes;
  stats.largest_free_bytes = std::max<int64_t>(0, high_start() - low_end());
  return stats;
}

void StackAllocator::trim() {
  std::lock_guard lock(mutex_);
  if (block_ == nullptr || !low_.empty() || !high_.empty()) return;
  source_->deallocate(block_, capacity_);
  block_ = nullptr;
}

std::string StackAllocator::describe_failure(int64_t bytes) const try {
  const AllocatorStats now = stats();
  const SizeUnit unit({bytes, now.live_bytes, now.largest_free_bytes, capacity_});
  return unit.text(bytes) + " requested, " + unit.text(now.live_bytes) + " live, " +
         unit.text(now.largest_free_bytes) + " between the ends of a stack of " +
         unit.text(capacity_);
} catch (...) {
  return {};
}

Result<AllocatorSnapshot> StackAllocator::snapshot() const {
  return without_exceptions([&]() -> Result<AllocatorSnapshot> {
    AllocatorSnapshot snapshot;
    std::lock_guard lock(mutex_);
    if (block_ == nullptr) return snapshot;
    for (const Entry& entry : low_)
      if (entry.is_live) snapshot.live.push_back({block_ + entry.offset, entry.bytes});
    if (high_start() > low_end())
      snapshot.free.push_back({block_ + low_end(), high_start() - low_end()});
    for (auto entry = high_.rbegin(); entry != high_.rend(); ++entry)
      if (entry->is_live) snapshot.live.push_back({block_ + entry->offset, entry->bytes});
    return snapshot;
  });
}

}  // namespace scopevm::runtime

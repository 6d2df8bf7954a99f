// Allocates storages within a limit and reuses Storage objects; see scope_memory.h.
#include "runtime/memory/scope_memory.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace scopevm::runtime {

ScopeMemory::ScopeMemory(std::string device, std::string scope,
                         std::shared_ptr<Allocator> allocator, int64_t limit, int64_t alignment)
    : device_(std::move(device)),
      scope_(std::move(scope)),
      allocator_(std::move(allocator)),
      limit_(limit),
      alignment_(alignment) {}

ScopeMemory::~ScopeMemory() {
  while (spare_ != nullptr) delete std::exchange(spare_, spare_->next);
}

ScopeMemory::Outcome ScopeMemory::allocate(int64_t bytes, Storage** storage, Region* region) {
  // Charged before the allocation, so that concurrent calls cannot exceed the limit together.
  const std::optional<int64_t> live = counters_.reserve(bytes, limit_);
  if (!live) return limit_ >= 0 ? Outcome::kOverLimit : Outcome::kNoRoom;
  Storage* made = take_spare();
  void* data = made == nullptr ? nullptr : allocate_bytes(bytes, region);
  if (data == nullptr) {
    if (made != nullptr) return_spare(made);
    counters_.subtract(bytes);
    return Outcome::kNoRoom;
  }
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment_) != 0) {
    allocator_->deallocate(data, bytes);  // regions are aligned
    return_spare(made);
    counters_.subtract(bytes);
    return Outcome::kMisaligned;
  }
  counters_.commit(*live);
  made->data = data;
  made->bytes = bytes;
  made->region = region;
  // Relaxed: no other thread has the storage yet, and spare_lock_ orders its reuse.
  made->references_.store(1, std::memory_order_relaxed);
  made->call_references = 0;
  made->is_list = made->is_result = made->is_held = false;
  made->next = made->previous = nullptr;
  // This reference keeps the scope alive, because a result can outlive the session.
  made->scope_ = shared_from_this();
  *storage = made;
  return Outcome::kOk;
}

void ScopeMemory::reclaim(Storage* storage) {
  const int64_t bytes = storage->bytes;
  const bool is_held = std::exchange(storage->is_held, false);
  counters_.subtract(bytes);
  deallocate_bytes(storage);
  return_spare(storage);
  if (is_held) release_hook_(bytes);
}

void* ScopeMemory::allocate_bytes(int64_t bytes, Region*& region) {
  if (region != nullptr) {
    if (void* data = region->take(bytes, alignment_)) {
      region_live_bytes_.fetch_add(bytes, std::memory_order_relaxed);
      return data;
    }
    region = nullptr;
  }
  return allocator_->allocate(bytes);
}

void ScopeMemory::deallocate_bytes(Storage* storage) {
  Region* region = std::exchange(storage->region, nullptr);
  if (region == nullptr) return allocator_->deallocate(storage->data, storage->bytes);
  region_live_bytes_.fetch_sub(storage->bytes, std::memory_order_relaxed);
  region->release(storage->data, storage->bytes, alignment_);
  leave_region(region);
}

void ScopeMemory::expect_regions(size_t count) {
  std::lock_guard lock(mutex_);
  regions_.reserve(regions_.size() + count);
  free_regions_.reserve(regions_.size() + count);
}

void ScopeMemory::add_region(std::unique_ptr<Region> region) {
  std::lock_guard lock(mutex_);
  regions_.push_back(std::move(region));
  free_regions_.push_back(regions_.back().get());
}

// The largest region is used first: regions of several reservations can differ.
Region* ScopeMemory::enter_region() {
  std::lock_guard lock(mutex_);
  if (free_regions_.empty()) return nullptr;
  const auto largest = std::ranges::max_element(free_regions_, {}, &Region::bytes);
  Region* region = *largest;
  free_regions_.erase(largest);
  region->begin();
  return region;
}

void ScopeMemory::leave_region(Region* region) {
  if (!region->end_use()) return;
  std::lock_guard lock(mutex_);
  free_regions_.push_back(region);
}

Storage* ScopeMemory::take_spare() {
  {
    std::lock_guard lock(spare_lock_);
    if (spare_ != nullptr) return std::exchange(spare_, spare_->next);
  }
  return new (std::nothrow) Storage;
}

void ScopeMemory::return_spare(Storage* storage) {
  std::lock_guard lock(spare_lock_);
  storage->next = spare_;
  spare_ = storage;
}

AllocatorStats ScopeMemory::stats() const {
  // The counters of this scope, and those of its allocator that it does not count.
  AllocatorStats stats = allocator_->stats();
  const AllocatorStats own = counters_.read(0);
  stats.live_bytes = own.live_bytes;
  stats.peak_bytes = own.peak_bytes;
  stats.allocations = own.allocations;
  std::lock_guard lock(mutex_);
  for (const auto& region : regions_) stats.cached_bytes += region->bytes();
  stats.cached_bytes -= region_live_bytes_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace scopevm::runtime

// Allocates storages within a limit and reuses Storage objects; see scope_memory.h.
#include "runtime/memory/scope_memory.h"

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

ScopeMemory::Outcome ScopeMemory::allocate(int64_t bytes, Storage** storage) {
  // Charged before the allocation, so that concurrent calls cannot exceed the limit together.
  const std::optional<int64_t> live = counters_.reserve(bytes, limit_);
  if (!live) return limit_ >= 0 ? Outcome::kOverLimit : Outcome::kNoRoom;
  Storage* made = take_spare();
  void* data = made == nullptr ? nullptr : allocator_->allocate(bytes);
  if (data == nullptr) {
    if (made != nullptr) return_spare(made);
    counters_.subtract(bytes);
    return Outcome::kNoRoom;
  }
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment_) != 0) {
    allocator_->deallocate(data, bytes);
    return_spare(made);
    counters_.subtract(bytes);
    return Outcome::kMisaligned;
  }
  counters_.commit(*live);
  made->data = data;
  made->bytes = bytes;
  // Relaxed: no other thread has the storage yet, and mutex_ orders its reuse.
  made->references_.store(1, std::memory_order_relaxed);
  made->call_references = 0;
  made->is_list = made->is_result = false;
  made->next = made->previous = nullptr;
  // This reference keeps the scope alive, because a result can outlive the session.
  made->scope_ = shared_from_this();
  *storage = made;
  return Outcome::kOk;
}

void ScopeMemory::reclaim(Storage* storage) {
  counters_.subtract(storage->bytes);
  allocator_->deallocate(storage->data, storage->bytes);
  return_spare(storage);
}

Storage* ScopeMemory::take_spare() {
  {
    std::lock_guard lock(mutex_);
    if (spare_ != nullptr) return std::exchange(spare_, spare_->next);
  }
  return new (std::nothrow) Storage;
}

void ScopeMemory::return_spare(Storage* storage) {
  std::lock_guard lock(mutex_);
  storage->next = spare_;
  spare_ = storage;
}

AllocatorStats ScopeMemory::stats() const {
  return counters_.read(allocator_->stats().cached_bytes);
}

}  // namespace scopevm::runtime

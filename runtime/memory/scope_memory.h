// ScopeMemory: a session's memory in one scope of one device: an allocator, a limit, and the
// counters of the memory of calls and results. Allocates storages.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/memory/counters.h"
#include "runtime/memory/pool/spin_lock.h"
#include "runtime/memory/region.h"
#include "runtime/memory/storage.h"
#include "scopevm/allocator.h"

namespace scopevm::runtime {

class ScopeMemory : public std::enable_shared_from_this<ScopeMemory> {
 public:
  // limit: maximum live bytes; negative: none. alignment: the alignment of every block.
  ScopeMemory(std::string device, std::string scope, std::shared_ptr<Allocator> allocator,
              int64_t limit, int64_t alignment = kBlockAlignment);
  ~ScopeMemory();
  ScopeMemory(const ScopeMemory&) = delete;
  ScopeMemory& operator=(const ScopeMemory&) = delete;

  const std::string& device() const { return device_; }
  const std::string& scope() const { return scope_; }
  int64_t limit() const { return limit_; }
  int64_t alignment() const { return alignment_; }
  Allocator& allocator() { return *allocator_; }

  enum class Outcome {
    kOk,
    // The allocator returned null, memory for a Storage is exhausted, or the live bytes of a scope
    // without a limit would exceed 64 bits.
    kNoRoom,
    kOverLimit,  // live bytes would exceed limit()
    kMisaligned  // the allocator returned a block that is not aligned to alignment()
  };
  // On kOk, *storage has `bytes` bytes and one reference. Takes them from `region` (can be null) if
  // it has room, else from the allocator. Thread-safe.
  Outcome allocate(int64_t bytes, Storage** storage, Region* region = nullptr);

  // Allocates a region of `bytes` without adding it; null if out of memory.
  std::unique_ptr<Region> make_region(int64_t bytes) { return Region::make(allocator_, bytes); }
  // Makes the next `count` calls of add_region() safe from failure.
  void expect_regions(size_t count);
  // The scope keeps the region until it is destroyed. The storages of results keep the scope alive.
  void add_region(std::unique_ptr<Region> region);
  // A region that no call uses, or null. The call must return it by leave_region().
  Region* enter_region();
  void leave_region(Region* region);
  // Counts bytes that were allocated elsewhere as live, until release(). Returns false if the live
  // bytes would exceed the limit.
  bool hold(int64_t bytes) { return counters_.hold(bytes, limit_); }
  void release(int64_t bytes) { counters_.subtract(bytes); }
  // `hook` is called with the bytes of each storage with is_held after its bytes were deallocated,
  // on any thread. It must not throw. Set before the first allocation.
  void set_release_hook(std::function<void(int64_t bytes)> hook) {
    release_hook_ = std::move(hook);
  }
  AllocatorStats stats() const;
  // The live bytes of stats().
  int64_t live_bytes() const { return counters_.live(); }

 private:
  friend class Storage;
  // Deallocates the bytes and keeps the Storage object for reuse.
  void reclaim(Storage* storage);
  // Takes bytes from the region or the allocator; null if out of memory.
  void* allocate_bytes(int64_t bytes, Region*& region);
  void deallocate_bytes(Storage* storage);
  // Takes a Storage from the free list, or creates one; null if out of memory.
  Storage* take_spare();
  void return_spare(Storage* storage);

  const std::string device_;
  const std::string scope_;
  const std::shared_ptr<Allocator> allocator_;
  const int64_t limit_;
  const int64_t alignment_;
  std::function<void(int64_t bytes)> release_hook_;
  MemoryCounters counters_;
  SpinLock spare_lock_;
  Storage* spare_ = nullptr;  // free list of Storage objects; guarded by spare_lock_
  mutable std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<Region*> free_regions_;  // has capacity for all regions
  std::atomic<int64_t> region_live_bytes_{0};
};

}  // namespace scopevm::runtime

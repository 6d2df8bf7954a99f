// ScopeMemory: a session's memory in one scope of one device: an allocator, a limit, and the
// counters of the memory of calls and results. Allocates storages.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/memory/counters.h"
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
  // On kOk, *storage has `bytes` bytes and one reference. Thread-safe.
  Outcome allocate(int64_t bytes, Storage** storage);
  // Counts bytes that were allocated elsewhere as live, until release(). Returns false if the live
  // bytes would exceed the limit.
  bool hold(int64_t bytes) { return counters_.hold(bytes, limit_); }
  void release(int64_t bytes) { counters_.subtract(bytes); }
  AllocatorStats stats() const;

 private:
  friend class Storage;
  // Deallocates the bytes and keeps the Storage object for reuse.
  void reclaim(Storage* storage);
  // Takes a Storage from the free list, or creates one; null if out of memory.
  Storage* take_spare();
  void return_spare(Storage* storage);

  const std::string device_;
  const std::string scope_;
  const std::shared_ptr<Allocator> allocator_;
  const int64_t limit_;
  const int64_t alignment_;
  MemoryCounters counters_;
  std::mutex mutex_;
  Storage* spare_ = nullptr;  // free list of Storage objects
};

}  // namespace scopevm::runtime

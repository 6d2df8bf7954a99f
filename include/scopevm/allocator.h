/// @file
/// Allocator: supplies the memory of one pool. A pool is one memory scope of one device. A session
/// uses one allocator per pool of its module. An embedder can replace the allocators of CPU pools
/// (SessionOptions::allocators).
#pragma once

#include <cstdint>

#include "scopevm/export.h"

namespace scopevm {

/// Minimum alignment of every block, in bytes.
inline constexpr int64_t kBlockAlignment = 64;

/// Counters of an allocator. Sizes are in bytes.
struct AllocatorStats {
  int64_t live_bytes = 0;    ///< allocated and not yet deallocated
  int64_t peak_bytes = 0;    ///< maximum of live_bytes since construction
  int64_t cached_bytes = 0;  ///< free blocks that the allocator keeps for reuse
  int64_t allocations = 0;   ///< successful calls of allocate()
};

/// Thread-safety: implementations must allow concurrent calls of every method.
class SCOPEVM_API Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  virtual ~Allocator();

  /// Returns a block of at least `bytes` bytes, or null when out of memory. `bytes` can be 0. The
  /// block is aligned to kBlockAlignment or to the pool's alignment in the module, whichever is
  /// larger; `scopevm inspect` prints the pool's alignment. Must not throw.
  virtual void* allocate(int64_t bytes) = 0;
  /// REQUIRES: `block` was returned by allocate(bytes) of this allocator, with the same `bytes`.
  virtual void deallocate(void* block, int64_t bytes) = 0;
  /// The current counters.
  virtual AllocatorStats stats() const = 0;
  /// Returns cached blocks to their source: the operating system or the driver of a device.
  virtual void trim() = 0;
};

}  // namespace scopevm

/// @file
/// Allocator: supplies the memory of one pool. A pool is one memory scope of one device. A session
/// uses one allocator per pool of its module. An embedder can replace the allocators of CPU pools
/// (SessionOptions::allocators). scopevm/allocators.h creates the allocators of scopevm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/c/allocator.h"
#include "scopevm/status.h"

namespace scopevm {

/// Minimum alignment of every block, in bytes.
inline constexpr int64_t kBlockAlignment = 64;

/// Counters of an allocator. Sizes are in bytes. An allocator that does not measure a value
/// reports 0.
struct AllocatorStats {
  int64_t live_bytes = 0;          ///< allocated and not yet deallocated
  int64_t peak_bytes = 0;          ///< maximum of live_bytes since construction
  int64_t cached_bytes = 0;        ///< free blocks that the allocator keeps for reuse
  int64_t allocations = 0;         ///< successful calls of allocate()
  int64_t reserved_bytes = 0;      ///< memory taken from the source: live, cached and rounding
  int64_t upstream_calls = 0;      ///< calls of the system or the source for memory
  int64_t largest_free_bytes = 0;  ///< the largest block that the cached memory can serve
  int64_t rounding_bytes = 0;  ///< internal fragmentation: sizes of live blocks minus live_bytes
};

/// A range of memory, for tools.
struct MemoryRange {
  const void* address = nullptr;  ///< of the first byte
  int64_t bytes = 0;              ///< its length
};

/// The memory of an allocator at one time. Ranges are in ascending order of addresses.
struct AllocatorSnapshot {
  std::vector<MemoryRange> live;  ///< allocated blocks, with their rounded sizes
  std::vector<MemoryRange> free;  ///< memory that the allocator can serve without its source
};

/// Thread-safety: implementations must allow concurrent calls of every method.
class Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  virtual ~Allocator() = default;

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

  /// The reason for which allocate(bytes) fails in the current state: the request, the live, cached
  /// and largest free bytes, the limit, and the sizes with most live bytes. One line. Empty if the
  /// allocator cannot describe its state or memory is exhausted. Must not throw.
  virtual std::string describe_failure(int64_t /*bytes*/) const { return {}; }
  /// The live and free ranges. Errors: kUnsupported (this allocator has no list of them),
  /// kOutOfMemory.
  virtual Result<AllocatorSnapshot> snapshot() const {
    return Status(StatusCode::kUnsupported, "this allocator has no list of its blocks");
  }
  /// The handle of an allocator of the library in the C API; null for other allocators.
  virtual const scopevm_allocator* c_allocator() const { return nullptr; }
};

/// The memory from which an allocator takes its blocks: the operating system, a driver of a device,
/// or an embedder's functions. Thread-safety: must allow concurrent calls.
class BlockSource {
 public:
  BlockSource() = default;
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;
  virtual ~BlockSource() = default;

  /// Returns a block of at least `bytes` bytes that is aligned to `alignment`, a power of two of at
  /// least kBlockAlignment. Null when out of memory. Allocators treat an exception like null.
  virtual void* allocate(int64_t bytes, int64_t alignment) = 0;
  /// REQUIRES: `block` was returned by allocate(bytes, alignment). Must not throw.
  virtual void deallocate(void* block, int64_t bytes) = 0;
};

}  // namespace scopevm

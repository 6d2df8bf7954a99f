// Allocator: where the bytes of one (device, memory scope) come from. A session has one per pool of
// its module; an embedder may supply its own (SessionOptions::allocators).
#pragma once

#include <cstdint>

#include "scopevm/export.h"

namespace scopevm {

// Every block starts at a multiple of this many bytes at least.
inline constexpr int64_t kBlockAlignment = 64;

struct AllocatorStats {
  int64_t live_bytes = 0;    // requested and not given back
  int64_t peak_bytes = 0;    // the largest live_bytes so far
  int64_t cached_bytes = 0;  // held for reuse, given to nobody
  int64_t allocations = 0;   // successful calls of allocate
};

// Thread-safety: implementations must allow concurrent calls of every method.
class SCOPEVM_API Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  virtual ~Allocator();

  // A block of at least `bytes` (zero allowed), or null when there is no room. It starts at a
  // multiple of kBlockAlignment, or of what the module's machine says of the pool, if that is more
  // (`scopevm inspect` prints it). Must not throw.
  virtual void* allocate(int64_t bytes) = 0;
  // `block` came from allocate(bytes) of this object.
  virtual void deallocate(void* block, int64_t bytes) = 0;
  virtual AllocatorStats stats() const = 0;
  // Gives cached blocks back to the system.
  virtual void trim() = 0;
};

}  // namespace scopevm

// Host memory from the operating system, for storages and for allocators of host memory that is not
// pinned.
#pragma once

#include <cstdint>

#include "scopevm/allocator.h"

namespace scopevm::runtime {

// Allocates at least `bytes` bytes (0 is allowed), aligned to `alignment`, a power of two of at
// least kBlockAlignment. Returns null if out of memory: see is_available().
void* system_allocate(int64_t bytes, int64_t alignment = kBlockAlignment);
void system_deallocate(void* block);

}  // namespace scopevm::runtime

// Blocks straight from the operating system's allocator: where every allocator gets its bytes.
#pragma once

#include <cstdint>

#include "scopevm/allocator.h"

namespace scopevm::runtime {

// At least `bytes` (zero allowed) at a multiple of `alignment`, a power of two of at least
// kBlockAlignment; null when there is no room.
void* system_allocate(int64_t bytes, int64_t alignment = kBlockAlignment);
void system_deallocate(void* block);

}  // namespace scopevm::runtime

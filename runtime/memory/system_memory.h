// Blocks straight from the operating system's allocator: where every allocator gets its bytes.
#pragma once

#include <cstdint>

namespace scopevm::runtime {

// At least `bytes` (zero allowed), aligned to kBlockAlignment; null when there is no room.
void* system_allocate(int64_t bytes);
void system_deallocate(void* block);

}  // namespace scopevm::runtime

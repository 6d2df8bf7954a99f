// Counts the system calls with which an allocator obtains and returns memory.
#pragma once

#include <cstdint>

namespace scopevm::lab {

// From now on, counts the calls of mmap, munmap, mremap, brk and madvise in this process. Each then
// takes about 2 us longer. Cannot be stopped. Returns false if the system does not support it.
bool start_counting_system_calls();

// The number of calls since the start.
uint64_t counted_system_calls();

}  // namespace scopevm::lab

// Counts the heap allocations of the program that links counted_heap.cpp, which replaces operator
// new.
#pragma once

#include <cstdint>

namespace scopevm::test {

// The number of calls of operator new since the program started.
int64_t heap_calls();

}  // namespace scopevm::test

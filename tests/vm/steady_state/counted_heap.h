// A heap whose allocations a test counts and makes fail: counted_heap.cpp replaces operator new and
// operator delete in the program that links it.
#pragma once

#include <cstdint>

namespace scopevm::test {

// The number of calls of operator new since the program started.
int64_t heap_calls();
// The number of blocks that operator new allocated and operator delete has not yet released.
int64_t heap_blocks();

// Makes `count` calls of operator new fail, beginning with call number `first`, where 1 is the next
// call. A count of 0 ends the failures. Not thread-safe.
void fail_heap_calls(int64_t first, int64_t count);
// The number of calls that failed since fail_heap_calls().
int64_t failed_heap_calls();

}  // namespace scopevm::test

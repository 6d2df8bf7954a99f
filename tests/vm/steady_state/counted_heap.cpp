#include "tests/vm/steady_state/counted_heap.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> calls{0};
std::atomic<int64_t> blocks{0};
std::atomic<int64_t> first_failure{0};
std::atomic<int64_t> end_of_failures{0};
std::atomic<int64_t> failures{0};

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  const int64_t call = ++calls;
  if (call >= first_failure && call < end_of_failures) {
    ++failures;
    return nullptr;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<std::size_t>(bytes, 1)))
    std::abort();
  ++blocks;
  return memory;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  if (void* memory = allocate(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  if (memory != nullptr) --blocks;
  std::free(memory);
}

std::size_t size_of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

// In the standard library, the array forms that are not replaced below call these functions.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, size_of(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, size_of(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  release(memory);
}
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }

namespace scopevm::test {

int64_t heap_calls() { return calls; }
int64_t heap_blocks() { return blocks; }

void fail_heap_calls(int64_t first, int64_t count) {
  failures = 0;
  first_failure = calls + first;
  end_of_failures = calls + first + count;
}

int64_t failed_heap_calls() { return failures; }

}  // namespace scopevm::test

// Replaces malloc(), calloc() and realloc() in the objects of the compiler library (linker option
// --wrap). MLIR does not check the result of malloc(). Here, a failed allocation throws
// std::bad_alloc, which api.cpp turns into a Status. Other libraries and the process keep theirs.
#include <cstddef>
#include <new>

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker defines these names.
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __wrap_malloc(size_t bytes);
void* __wrap_calloc(size_t count, size_t bytes);
void* __wrap_realloc(void* memory, size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

void* checked(void* memory, size_t bytes) {
  if (memory == nullptr && bytes > 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* __wrap_malloc(size_t bytes) { return checked(__real_malloc(bytes), bytes); }

void* __wrap_calloc(size_t count, size_t bytes) {
  return checked(__real_calloc(count, bytes), count > 0 ? bytes : 0);
}

void* __wrap_realloc(void* memory, size_t bytes) {
  return checked(__real_realloc(memory, bytes), bytes);
}

// libscopevm_record.so: replaces the functions of malloc() in a program that is started with
// LD_PRELOAD, calls the program's own ones, and stores an event for each.
//   hooks.cpp      the replaced functions
//   mappings.cpp   the replaced functions of mmap()
//   recorder.cpp   events -> spool
//   spool.h        the files of the spool
//
// The time of an allocation is taken after the call, that of a release before it. Hence the release
// of an address always precedes the next allocation of the same address, on all threads.
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "tools/scopevm_record/allocator_call.h"
#include "tools/scopevm_record/recorder.h"
#include "tools/scopevm_record/ticks.h"

namespace scopevm::record {
namespace {

// The functions that the program would call without this library.
struct Functions {
  decltype(&::malloc) malloc;
  decltype(&::calloc) calloc;
  decltype(&::realloc) realloc;
  decltype(&::free) free;
  decltype(&::posix_memalign) posix_memalign;
  decltype(&::memalign) memalign;
  decltype(&::malloc_usable_size) malloc_usable_size;
};
Functions functions;
std::atomic<bool> is_resolved{false};
__thread bool is_resolving = false;

// Memory for dlsym(), which can allocate before the functions are known. Never released.
alignas(64) char early_memory[16 << 10];
std::atomic<size_t> early_bytes{0};

void* allocate_early(size_t size) {
  const size_t bytes = (size + 63) / 64 * 64;
  const size_t offset = early_bytes.fetch_add(bytes);
  return offset + bytes <= sizeof(early_memory) ? early_memory + offset : nullptr;
}

bool is_early(const void* block) {
  return block >= early_memory && block < early_memory + sizeof(early_memory);
}

template <typename Function>
void resolve(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Several threads can resolve at once, with equal results.
void resolve_all() {
  is_resolving = true;
  Functions next;
  resolve(next.malloc, "malloc");
  resolve(next.calloc, "calloc");
  resolve(next.realloc, "realloc");
  resolve(next.free, "free");
  resolve(next.posix_memalign, "posix_memalign");
  resolve(next.memalign, "memalign");
  resolve(next.malloc_usable_size, "malloc_usable_size");
  functions = next;
  is_resolved.store(true, std::memory_order_release);
  is_resolving = false;
}

// Returns false while the functions are not known: inside dlsym().
inline bool is_ready() {
  if (__builtin_expect(is_resolved.load(std::memory_order_acquire), 1)) return true;
  if (is_resolving) return false;
  resolve_all();
  return true;
}

inline uint64_t address_of(const void* block) { return reinterpret_cast<uint64_t>(block); }

inline void* stored(RecordKind kind, void* block, size_t size, size_t alignment,
                    const void* caller) {
  if (block != nullptr) store({kind, address_of(block), size, alignment}, now_ticks(), caller);
  return block;
}

inline void* allocate_aligned(size_t alignment, size_t size, const void* caller) {
  if (!is_ready()) return nullptr;
  return stored(RecordKind::kAllocate, call(functions.memalign, alignment, size), size, alignment,
                caller);
}

inline void* reallocate(void* block, size_t size, const void* caller) {
  if (!is_ready()) return nullptr;
  if (is_early(block)) {
    void* copy = call(functions.malloc, size);
    const size_t rest =
        static_cast<size_t>(early_memory + sizeof(early_memory) - static_cast<char*>(block));
    if (copy != nullptr) memcpy(copy, block, size < rest ? size : rest);
    return stored(RecordKind::kAllocate, copy, size, 0, caller);
  }
  if (block == nullptr)
    return stored(RecordKind::kAllocate, call(functions.realloc, nullptr, size), size, 0, caller);
  store({RecordKind::kReallocateBegin, address_of(block), size}, now_ticks(), caller);
  void* moved = call(functions.realloc, block, size);
  store({RecordKind::kReallocateEnd, address_of(moved), size}, now_ticks(), caller);
  return moved;
}

}  // namespace
}  // namespace scopevm::record

#define SCOPEVM_HOOK extern "C" __attribute__((visibility("default")))
#define SCOPEVM_CALLER __builtin_return_address(0)

using namespace scopevm::record;  // NOLINT: the hooks below are in the global namespace

SCOPEVM_HOOK void* malloc(size_t size) {
  if (!is_ready()) return allocate_early(size);
  return stored(RecordKind::kAllocate, call(functions.malloc, size), size, 0, SCOPEVM_CALLER);
}

SCOPEVM_HOOK void* calloc(size_t count, size_t size) {
  if (!is_ready()) return allocate_early(count * size);  // static memory is zero
  void* block = call(functions.calloc, count, size);
  return stored(RecordKind::kAllocateZeroed, block, count * size, 0, SCOPEVM_CALLER);
}

SCOPEVM_HOOK void free(void* block) {
  if (block == nullptr || is_early(block) || !is_ready()) return;
  store({RecordKind::kRelease, address_of(block)}, now_ticks(), SCOPEVM_CALLER);
  call(functions.free, block);
}

SCOPEVM_HOOK void* realloc(void* block, size_t size) {
  return reallocate(block, size, SCOPEVM_CALLER);
}

SCOPEVM_HOOK void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return reallocate(block, bytes, SCOPEVM_CALLER);
}

SCOPEVM_HOOK int posix_memalign(void** block, size_t alignment, size_t size) {
  if (!is_ready()) return ENOMEM;
  const int error = call(functions.posix_memalign, block, alignment, size);
  if (error == 0) stored(RecordKind::kAllocate, *block, size, alignment, SCOPEVM_CALLER);
  return error;
}

SCOPEVM_HOOK void* aligned_alloc(size_t alignment, size_t size) {
  return allocate_aligned(alignment, size, SCOPEVM_CALLER);
}

SCOPEVM_HOOK void* memalign(size_t alignment, size_t size) {
  return allocate_aligned(alignment, size, SCOPEVM_CALLER);
}

SCOPEVM_HOOK void* valloc(size_t size) {
  return allocate_aligned(static_cast<size_t>(sysconf(_SC_PAGESIZE)), size, SCOPEVM_CALLER);
}

SCOPEVM_HOOK void* pvalloc(size_t size) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return allocate_aligned(page, (size + page - 1) / page * page, SCOPEVM_CALLER);
}

SCOPEVM_HOOK size_t malloc_usable_size(void* block) {
  return block == nullptr || is_early(block) || !is_ready() ? 0
                                                            : functions.malloc_usable_size(block);
}

// Replaces mmap() and its relatives, and stores an event for each anonymous mapping. The C library
// calls functions of its own, so mappings of its malloc(), of threads' stacks and of loaded
// libraries are not recorded. Those of another malloc() are recognised by is_in_allocator.
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>

#include "tools/scopevm_record/allocator_call.h"
#include "tools/scopevm_record/recorder.h"
#include "tools/scopevm_record/ticks.h"

namespace scopevm::record {

__thread bool is_in_allocator = false;

namespace {

void store_range(RecordKind kind, const void* address, size_t bytes, const void* caller) {
  store({kind, reinterpret_cast<uint64_t>(address), bytes}, now_ticks(), caller);
}

// System calls, because the next library's functions would need dlsym(), which can map memory.
void* map(void* address, size_t bytes, int protection, int flags, int file, off_t offset,
          const void* caller) {
  void* const mapped =
      std::bit_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
  if (mapped == MAP_FAILED || is_in_allocator) return mapped;
  if ((flags & MAP_ANONYMOUS) != 0)
    store_range(protection == PROT_NONE ? RecordKind::kMapInaccessible : RecordKind::kMap, mapped,
                bytes, caller);
  else if ((flags & MAP_FIXED) != 0)
    store_range(RecordKind::kUnmap, mapped, bytes, caller);
  return mapped;
}

}  // namespace
}  // namespace scopevm::record

#define SCOPEVM_HOOK extern "C" __attribute__((visibility("default")))
#define SCOPEVM_CALLER __builtin_return_address(0)

using namespace scopevm::record;  // NOLINT: the hooks below are in the global namespace

SCOPEVM_HOOK void* mmap(void* address, size_t bytes, int protection, int flags, int file,
                        off_t offset) {
  return map(address, bytes, protection, flags, file, offset, SCOPEVM_CALLER);
}

SCOPEVM_HOOK void* mmap64(void* address, size_t bytes, int protection, int flags, int file,
                          off64_t offset) {
  return map(address, bytes, protection, flags, file, offset, SCOPEVM_CALLER);
}

SCOPEVM_HOOK int munmap(void* address, size_t bytes) {
  if (!is_in_allocator) store_range(RecordKind::kUnmap, address, bytes, SCOPEVM_CALLER);
  return static_cast<int>(syscall(SYS_munmap, address, bytes));
}

SCOPEVM_HOOK int mprotect(void* address, size_t bytes, int protection) {
  // A release is stored before the call, an allocation after it.
  if (!is_in_allocator && protection == PROT_NONE)
    store_range(RecordKind::kMakeInaccessible, address, bytes, SCOPEVM_CALLER);
  const int result = static_cast<int>(syscall(SYS_mprotect, address, bytes, protection));
  if (!is_in_allocator && protection != PROT_NONE && result == 0)
    store_range(RecordKind::kMakeAccessible, address, bytes, SCOPEVM_CALLER);
  return result;
}

SCOPEVM_HOOK void* mremap(void* address, size_t old_bytes, size_t bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  if (!is_in_allocator) store_range(RecordKind::kRemapBegin, address, old_bytes, SCOPEVM_CALLER);
  void* const mapped =
      std::bit_cast<void*>(syscall(SYS_mremap, address, old_bytes, bytes, flags, wanted));
  if (!is_in_allocator)
    store_range(RecordKind::kRemapEnd, mapped == MAP_FAILED ? nullptr : mapped, bytes,
                SCOPEVM_CALLER);
  return mapped;
}

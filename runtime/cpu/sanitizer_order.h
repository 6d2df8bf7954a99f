// Happens-before annotations for ThreadSanitizer: Debian's TBB is not instrumented, so the
// sanitizer sees neither the start of a task nor the end of a loop. In other builds these functions
// do nothing.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SCOPEVM_THREAD_SANITIZER 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define SCOPEVM_THREAD_SANITIZER 1
#endif

#ifdef SCOPEVM_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace scopevm::runtime {

// Memory accesses before happens_before(at) are ordered before those after a later
// happens_after(at).
inline void happens_before([[maybe_unused]] void* at) {
#ifdef SCOPEVM_THREAD_SANITIZER
  __tsan_release(at);
#endif
}
inline void happens_after([[maybe_unused]] void* at) {
#ifdef SCOPEVM_THREAD_SANITIZER
  __tsan_acquire(at);
#endif
}

}  // namespace scopevm::runtime

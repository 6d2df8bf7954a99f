// SpinLock: a mutual exclusion for a few dozen nanoseconds. An uncontended pair of lock() and
// unlock() has one locked instruction; that of std::mutex has two.
#pragma once

#include <atomic>
#include <thread>

namespace scopevm::runtime {

class SpinLock {
 public:
  void lock() {
    while (is_locked_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() { is_locked_.store(false, std::memory_order_release); }

 private:
  // Spins for about a microsecond, then lets the thread that holds the lock run: it may have been
  // preempted on the same core.
  void wait() {
    for (int spins = 0; is_locked_.load(std::memory_order_relaxed); ++spins)
      if (spins >= kSpins) {
        std::this_thread::yield();
      } else {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
  }

  static constexpr int kSpins = 64;
  std::atomic<bool> is_locked_{false};
};

}  // namespace scopevm::runtime

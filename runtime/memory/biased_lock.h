// BiasedLock: a lock that one thread, the owner, takes often and other threads take rarely. The
// owner executes two stores and one load without a fence. Another thread executes the system call
// membarrier, which is a fence of all threads of the process (Linux 4.14). Without this system
// call, the owner executes a fence.
#pragma once

#include <atomic>
#include <thread>

namespace scopevm::runtime {

class BiasedLock {
 public:
  // Called by the owner. Returns false if another thread excludes the owner.
  bool try_enter() {
    is_entered_.store(true, std::memory_order_relaxed);
    // The order of this store and the next load: either the owner observes is_excluded_, or the
    // other thread observes is_entered_.
    if (kHasBarrier) [[likely]]
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!is_excluded_.load(std::memory_order_acquire)) [[likely]]
      return true;
    leave();
    return false;
  }
  void leave() { is_entered_.store(false, std::memory_order_release); }

  // Called by other threads, one at a time: exclude() each lock, fence() once, then await() each.
  // The owner then cannot enter before admit().
  void exclude() { is_excluded_.store(true, std::memory_order_relaxed); }
  static void fence();
  void await() const {
    while (is_entered_.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  void admit() { is_excluded_.store(false, std::memory_order_release); }

 private:
  static const bool kHasBarrier;  // whether this process can use membarrier
  std::atomic<bool> is_entered_{false};
  std::atomic<bool> is_excluded_{false};
};

}  // namespace scopevm::runtime

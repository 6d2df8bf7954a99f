// Fiber: a stack on which a thread calls a function that can suspend itself. Any thread can then
// resume it. fiber.cpp is the only file that uses Boost.Context and the sanitizers' functions for
// fibers.
#pragma once

#include <cstddef>
#include <memory>

namespace scopevm::vm {

// One thread at a time uses a fiber. Another thread can resume it after resume() has returned, if
// the program orders the two.
class Fiber {
 public:
  // The usable bytes of each stack. The page below it is not accessible, so that an overflow ends
  // the process.
  static const size_t kStackBytes;

  // Null if the system has no memory for the stack.
  static std::unique_ptr<Fiber> create();
  // REQUIRES: has_ended().
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Whether the function has returned, or none was started.
  bool has_ended() const { return has_ended_; }
  // Sets the function that resume() calls with `context`. It must not throw. REQUIRES: has_ended().
  void start(void (*function)(void* context), void* context);
  // Calls or continues the function, until it returns or suspends itself. REQUIRES: !has_ended();
  // not called on the stack of a fiber.
  void resume();
  // Returns to the caller of resume(). The next resume() continues here, maybe on another thread:
  // callers must not keep addresses of thread-local variables. REQUIRES: called by the function;
  // no exception is being handled.
  void suspend();
  // The bytes of the stack that were used so far, in whole pages.
  size_t used_stack_bytes() const;

 private:
  struct Entry;
  Fiber() = default;
  void switch_out();

  std::byte* mapping_ = nullptr;  // the inaccessible page, then the stack
  size_t mapped_bytes_ = 0;
  void* inside_ = nullptr;   // the context of the suspended fiber
  void* outside_ = nullptr;  // the context of the thread that resumed the fiber
  void (*function_)(void*) = nullptr;
  void* context_ = nullptr;
  bool has_ended_ = true;
  // Of AddressSanitizer: the stack of the thread that resumed the fiber.
  const void* thread_stack_ = nullptr;
  size_t thread_stack_bytes_ = 0;
  // Of ThreadSanitizer: the states of the fiber and of the thread.
  [[maybe_unused]] void* inside_state_ = nullptr;
  [[maybe_unused]] void* outside_state_ = nullptr;
};

}  // namespace scopevm::vm

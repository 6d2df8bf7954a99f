// Interrupts of a run: its deadline and its flags. All functions are thread-safe.
#pragma once

#include <atomic>
#include <chrono>

#include "scopevm/session.h"

namespace scopevm::vm {

class CallFiber;

// The options of a run: those of the caller, the flag of Call::cancel(), and the fiber that runs
// the call; null if it runs on the stack of a thread.
struct RunOptions : CallOptions {
  const std::atomic<bool>* is_cancelled = nullptr;
  CallFiber* fiber = nullptr;
};

// kOk, kCancelled or kDeadlineExceeded. Reads the clock only if there is a deadline.
inline StatusCode interrupt(const RunOptions& options) {
  // Relaxed: the flags publish no other data.
  if (options.is_cancelled->load(std::memory_order_relaxed) ||
      (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed)))
    return StatusCode::kCancelled;
  return options.deadline && std::chrono::steady_clock::now() >= *options.deadline
             ? StatusCode::kDeadlineExceeded
             : StatusCode::kOk;
}

// The error of a run that is interrupted with this code. REQUIRES: the code is not kOk.
Status interrupt_status(StatusCode code);

// The error if the run is interrupted now.
inline Status check_interrupts(const RunOptions& options) {
  const StatusCode code = interrupt(options);
  return code == StatusCode::kOk ? Status() : interrupt_status(code);
}

}  // namespace scopevm::vm

// Reads the clock and the cancel flag; see interrupts.h.
#include "vm/run/call/interrupts.h"

namespace scopevm::vm {

using Clock = std::chrono::steady_clock;

StatusCode interrupt_at(Clock::time_point now, const CallOptions& options) {
  // Relaxed: the flag publishes no other data.
  if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed))
    return StatusCode::kCancelled;
  return options.deadline && now >= *options.deadline ? StatusCode::kDeadlineExceeded
                                                      : StatusCode::kOk;
}

Status interrupt_status(StatusCode code) {
  if (code == StatusCode::kOk) return {};
  return {code,
          code == StatusCode::kCancelled ? "the call was cancelled" : "the call's deadline passed"};
}

Status check_interrupts(const CallOptions& options) {
  if (!options.deadline && options.cancel == nullptr) return {};
  return interrupt_status(interrupt_at(Clock::now(), options));
}

}  // namespace scopevm::vm

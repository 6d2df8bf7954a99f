// Interrupts of a call: its deadline and its cancel flag. All functions are thread-safe.
#pragma once

#include <chrono>

#include "scopevm/session.h"

namespace scopevm::vm {

// kOk, kCancelled or kDeadlineExceeded.
StatusCode interrupt_at(std::chrono::steady_clock::time_point now, const CallOptions& options);

// The error of a call that is interrupted with this code; ok for kOk.
Status interrupt_status(StatusCode code);

// The error if the call is interrupted now.
Status check_interrupts(const CallOptions& options);

}  // namespace scopevm::vm

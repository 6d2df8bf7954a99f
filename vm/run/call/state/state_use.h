// The use of a state by one function at a time.
#pragma once

#include "vm/run/call/state/call_state.h"

namespace scopevm::vm {

// Begins a use, which ends with this object unless keep() was called.
class CallState::Use {
 public:
  explicit Use(CallState& state)
      : state_(state.is_used_.exchange(true, std::memory_order_acquire) ? nullptr : &state) {}
  ~Use() {
    if (state_ != nullptr) state_->is_used_.store(false, std::memory_order_release);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  // Errors: kInvalidArgument (another use has not ended).
  Status status() const {
    if (state_ != nullptr) return {};
    return {StatusCode::kInvalidArgument,
            "the state is in use: wait for the end of the call or function that uses it"};
  }
  void keep() { state_ = nullptr; }

 private:
  CallState* state_;
};

}  // namespace scopevm::vm

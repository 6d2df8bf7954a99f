// StopCheckScope: lets kernels end early (kStopCheckSymbol of scopevm/kernel_abi.h).
#pragma once

namespace scopevm::runtime {

// While it exists, kernels that the current thread runs call `check(context)`. They end early if it
// returns true; their results are then undefined. Scopes of a thread can be nested.
class StopCheckScope {
 public:
  using Check = bool (*)(void* context);
  StopCheckScope(Check check, void* context) : outer_(current_) { current_ = {check, context}; }
  ~StopCheckScope() { current_ = outer_; }
  StopCheckScope(const StopCheckScope&) = delete;
  StopCheckScope& operator=(const StopCheckScope&) = delete;

 private:
  friend bool should_kernel_stop();
  struct Current {
    Check check;
    void* context;
  };

  // Initial-exec, because each launch accesses it: a load instead of a call.
  [[gnu::tls_model("initial-exec")]] static thread_local constinit Current current_;
  const Current outer_;
};

// The function to which KernelImage::load() sets the pointer of an image. False outside of all
// scopes.
bool should_kernel_stop();

}  // namespace scopevm::runtime

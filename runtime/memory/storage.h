// Storage: owned bytes, and the only reference-counted thing. Tensors are views into one.
//
// Two counts: `references` is atomic and shared by tensors, exported DLPack tensors and calls.
// `call_references` belongs to the one call that allocated the storage: its registers count there
// without atomics, and together hold one of `references`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace scopevm::runtime {

class ScopeMemory;

class Storage {
 public:
  void* data = nullptr;
  int64_t bytes = 0;
  int32_t call_references = 0;
  int32_t pool = -1;        // of the call's module
  bool is_list = false;     // the bytes are a list of the call's (vm/run/list.h)
  bool is_result = false;   // a result of the call shares the bytes
  Storage* next = nullptr;  // in the owner's list: a call's live ones, or a scope's spare ones
  Storage* previous = nullptr;

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  // Frees the bytes with the last reference.
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

  // A storage over the caller's bytes; `on_release` (may be empty) runs with the last reference.
  static Storage* adopt(void* data, int64_t bytes, std::function<void()> on_release);

 private:
  friend class ScopeMemory;
  void destroy();

  std::atomic<int32_t> references_{1};
  std::shared_ptr<ScopeMemory> scope_;  // allocated the bytes; null: adopted
  std::function<void()> on_release_;
};

}  // namespace scopevm::runtime

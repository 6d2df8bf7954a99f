// Storage: a reference-counted block of bytes. Tensors are views of storages.
//
// There are two counts. `references_` is atomic and counts tensors, exported DLPack tensors and the
// owning call. `call_references` is not atomic and counts the registers and list elements of the
// call that allocated the storage. All references of the call together count as one in
// `references_`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

// A storage of the C API is a Storage.
struct scopevm_storage {};

namespace scopevm::runtime {

class Region;
class ScopeMemory;

class Storage : public scopevm_storage {
 public:
  void* data = nullptr;
  int64_t bytes = 0;
  int32_t call_references = 0;
  int32_t pool = -1;         // pool index in the call's module; -1: none
  bool is_list = false;      // contains a list (vm/run/frame/list.h)
  bool is_result = false;    // shared by a result of the call
  bool is_held = false;      // its release is reported: ScopeMemory::set_release_hook()
  Region* region = nullptr;  // that contains the bytes; null: the allocator allocated them
  Storage* next = nullptr;   // in the call's list of live storages, or the scope's free list
  Storage* previous = nullptr;

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  // Releases one reference. The last one deallocates the bytes.
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

  // Creates a storage for the caller's bytes. `on_release` (can be empty) is called when the last
  // reference is released.
  static Storage* adopt(void* data, int64_t bytes, std::function<void()> on_release);
  // Creates a storage for newly allocated system memory. Null if out of memory.
  static Storage* allocate(int64_t bytes);

 private:
  friend class ScopeMemory;
  void destroy();

  std::atomic<int32_t> references_{1};
  std::shared_ptr<ScopeMemory> scope_;  // the allocating scope; null for adopted bytes
  std::function<void()> on_release_;
};

}  // namespace scopevm::runtime

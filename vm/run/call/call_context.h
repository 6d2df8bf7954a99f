// CallContext: the state of a run: frames, storages, accounts, streams, strings and the tracer. A
// request leases a context from its session when it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/memory/storage.h"
#include "scopevm/c/dlpack.h"
#include "vm/run/call/request.h"
#include "vm/run/call/string_table.h"
#include "vm/run/frame/frame.h"
#include "vm/run/trace/tracer.h"

namespace scopevm::vm {

// The call's memory use in one pool of the module.
struct PoolAccount {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t allocations = 0;
  int64_t bound_bytes = 0;
  int64_t lower_bound_bytes = 0;
  int64_t budget = -1;  // the most live bytes; negative: no limit
};

// The call's copies from one pool to another.
struct CopyAccount {
  uint32_t from_pool = 0;
  uint32_t to_pool = 0;
  int64_t copies = 0;
  int64_t bytes = 0;
};

class CallContext {
 public:
  explicit CallContext(size_t pool_count) : pools_(pool_count), regions_(pool_count) {}
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // Set from begin() to end().
  Request* request = nullptr;
  const LoadedFunction* entry = nullptr;  // the function of the last run: main or a variant
  double emulated_seconds = 0;            // sum of the minimum times that the last run emulated

  // Frames are pushed and popped by push_frame() and pop_frame() only.
  FrameStack frames;
  StringTable strings;
  // Declared before the streams, which refer to it.
  Tracer tracer;
  // The call's streams on the session's devices: BoundDevices::make_streams().
  std::vector<std::unique_ptr<runtime::DeviceStream>> streams;

  // The operands and results of an external function; sized for the largest of the module.
  std::vector<DLTensor> external_tensors;

  // Pushes the frame of a function and charges its stack allocations to their pools. Errors:
  // kResourceLimit, kOutOfMemory.
  Status push_frame(const LoadedFunction& function) {
    SCOPEVM_RETURN_IF_ERROR(frames.push(function));
    return function.stacks.uses.empty() ? Status() : charge_stacks(function);
  }
  void pop_frame() {
    const FrameStorages& stacks = frames.top().function->stacks;
    if (!stacks.uses.empty()) release_stacks(stacks.uses);
    frames.pop();
  }

  // Transfers one reference of the storage to the call, until release(), and charges its bytes to
  // the pool. A negative `pool` denotes a caller's buffer, which is not charged. REQUIRES: the call
  // does not own the storage yet.
  void own(runtime::Storage* storage, int32_t pool) {
    storage->pool = pool;
    storage->call_references = 0;
    storage->previous = nullptr;
    storage->next = live_;
    if (live_ != nullptr) live_->previous = storage;
    live_ = storage;
    if (pool < 0) return;
    PoolAccount& account = pools_[pool];
    if (storage->region == nullptr) ++account.allocations;
    account.live_bytes += storage->bytes;
    if (account.live_bytes > account.peak_bytes) account.peak_bytes = account.live_bytes;
  }

  // Releases a storage and, if it is a list, its elements. REQUIRES: no register or list references
  // the storage.
  void release(runtime::Storage* storage) {
    if (storage->is_list) release_elements(storage);
    unlink_and_release(storage);
  }

  // Releases all storages and frames that the call still owns.
  void end();
  // Starts a run of a request: resets the accounts.
  void begin(Request& of);

  // Limits the live bytes of the run in a pool, from begin() on; negative: no limit.
  void set_budget(uint32_t pool, int64_t bytes) { pools_[pool].budget = bytes; }
  // Errors: kResourceLimit (`bytes` more would exceed the budget of the pool).
  Status check_budget(uint32_t pool, int64_t bytes, const runtime::ScopeMemory& memory) const {
    const int64_t budget = pools_[pool].budget;
    if (budget < 0 || bytes <= budget - pools_[pool].live_bytes) return {};
    return over_budget(pool, bytes, memory);
  }

  // The reserved memory of this call in a pool; null if there is none. Set from begin() to end().
  runtime::Region* region(uint32_t pool) const { return regions_[pool]; }

  std::vector<PoolAccount>& pools() { return pools_; }

  void count_copy(uint32_t from_pool, uint32_t to_pool, int64_t bytes) {
    for (CopyAccount& account : copies_)
      if (account.from_pool == from_pool && account.to_pool == to_pool) {
        ++account.copies;
        account.bytes += bytes;
        return;
      }
    copies_.push_back({from_pool, to_pool, 1, bytes});
  }
  const std::vector<CopyAccount>& copies() const { return copies_; }

 private:
  void enter_regions();
  void leave_regions();
  Status over_budget(uint32_t pool, int64_t bytes, const runtime::ScopeMemory& memory) const;
  Status charge_stacks(const LoadedFunction& function);
  void release_stacks(std::span<const FrameStorages::Use> uses);
  void release_elements(runtime::Storage* list);
  void unlink_and_release(runtime::Storage* storage) {
    (storage->previous != nullptr ? storage->previous->next : live_) = storage->next;
    if (storage->next != nullptr) storage->next->previous = storage->previous;
    if (storage->pool >= 0) pools_[storage->pool].live_bytes -= storage->bytes;
    storage->release();
  }

  std::vector<PoolAccount> pools_;
  std::vector<runtime::Region*> regions_;  // by pool; null without reserved memory
  bool has_regions_ = false;               // some can be not null
  std::vector<CopyAccount> copies_;  // one per pair of pools; linear search, because they are few
  runtime::Storage* live_ = nullptr;
};

}  // namespace scopevm::vm

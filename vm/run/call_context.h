// CallContext: everything one call needs that outlives a single instruction. Recycled by its
// session.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/memory/storage.h"
#include "scopevm/session.h"
#include "scopevm/tensor.h"
#include "vm/run/frame.h"
#include "vm/run/text_table.h"

namespace scopevm::vm {

class BoundSession;

// What the call took from one pool of the module.
struct PoolAccount {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t allocations = 0;
  int64_t bound_bytes = 0;
  int64_t lower_bound_bytes = 0;
};

// What the call copied from pool to pool.
struct CopyAccount {
  uint32_t from_pool = 0;
  uint32_t to_pool = 0;
  int64_t copies = 0;
  int64_t bytes = 0;
};

// An input or a result that is no tensor.
struct ListValue {
  bool is_set = false;
  bool has_value = false;        // false: an optional without one
  std::vector<Tensor> elements;  // of an optional tensor: itself
};

class CallContext {
 public:
  explicit CallContext(size_t pool_count) : pools_(pool_count) {}
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // Set by whoever leases the context; keeps the session alive meanwhile.
  std::shared_ptr<BoundSession> session;

  std::vector<Tensor> inputs;  // empty tensors: not set
  // What the inputs give the signature's dimensions, once they are bound.
  std::vector<int64_t> dimensions;
  const LoadedFunction* entry = nullptr;  // what the last run entered: main, or a variant
  std::vector<Tensor> outputs;            // the caller's buffers; empty tensors: not set
  // A storage around each caller's buffer, so that registers can refer to it like to any other.
  std::vector<runtime::Storage*> output_storages;
  std::vector<Tensor> results;  // empty tensors where the result is no tensor
  // By input and by output; those of tensors are not set.
  std::vector<ListValue> list_inputs;
  std::vector<ListValue> list_results;
  double emulated_seconds = 0;  // of the last run
  CallStats stats;

  // push_frame and pop_frame change it.
  FrameStack frames;
  TextTable texts;
  // The call's work on the session's devices: BoundDevices::make_streams().
  std::vector<std::unique_ptr<runtime::DeviceStream>> streams;

  // The frame of a function that begins; what it takes of stacks counts in their pools. Errors:
  // kResourceLimit, kOutOfMemory.
  Status push_frame(const LoadedFunction& function) {
    SCOPEVM_RETURN_IF_ERROR(frames.push(function));
    return function.stacks.uses.empty() ? Status() : hold_stacks(function);
  }
  void pop_frame() {
    const FrameStacks& stacks = frames.top().function->stacks;
    if (!stacks.uses.empty()) give_back_stacks(stacks.uses);
    frames.pop();
  }

  void clear_list_results();
  void set_output(size_t index, Tensor tensor);

  // A storage of the pool becomes the call's: it holds the one reference until disown. pool < 0: a
  // caller's buffer, which counts nowhere.
  void own(runtime::Storage* storage, int32_t pool) {
    storage->pool = pool;
    storage->call_references = 0;
    storage->previous = nullptr;
    storage->next = live_;
    if (live_ != nullptr) live_->previous = storage;
    live_ = storage;
    if (pool < 0) return;
    PoolAccount& account = pools_[pool];
    ++account.allocations;
    account.live_bytes += storage->bytes;
    if (account.live_bytes > account.peak_bytes) account.peak_bytes = account.live_bytes;
  }

  // With the storage's last name in a register or list.
  void disown(runtime::Storage* storage) {
    if (storage->is_list) drop_elements(storage);
    let_go(storage);
  }

  // Gives back whatever the call still holds.
  void end();
  // Before a run: empties the accounts and drops the last run's results.
  void begin();

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
  Status hold_stacks(const LoadedFunction& function);
  void give_back_stacks(std::span<const FrameStacks::Use> uses);
  void drop_elements(runtime::Storage* list);
  void let_go(runtime::Storage* storage) {
    (storage->previous != nullptr ? storage->previous->next : live_) = storage->next;
    if (storage->next != nullptr) storage->next->previous = storage->previous;
    if (storage->pool >= 0) pools_[storage->pool].live_bytes -= storage->bytes;
    storage->release();
  }

  std::vector<PoolAccount> pools_;
  std::vector<CopyAccount> copies_;  // few: one for each pair of pools
  runtime::Storage* live_ = nullptr;
};

}  // namespace scopevm::vm

// BoundSession: the implementation of Session. It owns the executor, the open devices, the
// external functions, one ScopeMemory per pool, and a free list of call contexts.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/memory/scope_memory.h"
#include "scopevm/executor.h"
#include "scopevm/session.h"
#include "vm/load/loaded_module.h"
#include "vm/run/admission/call_scheduler.h"
#include "vm/run/call/call_context.h"
#include "vm/run/devices/bound_devices.h"
#include "vm/run/devices/emulation.h"
#include "vm/run/external/bound_externals.h"
#include "vm/run/metrics/call_metrics.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {

class BoundSession {
 public:
  ~BoundSession();
  BoundSession(const BoundSession&) = delete;
  BoundSession& operator=(const BoundSession&) = delete;

  static Result<std::shared_ptr<BoundSession>> create(std::shared_ptr<const LoadedModule> module,
                                                      SessionOptions options,
                                                      const DeviceOpener& opener = open_device);

  const LoadedModule& module() const { return *module_; }
  const std::shared_ptr<const LoadedModule>& module_owner() const { return module_; }
  const KernelTable& kernels() const { return *kernels_; }
  // By kernel of the module; null for those of devices that are not CPUs of this rank.
  const KernelFn* cpu_kernels() const {
    return own_kernels_.empty() ? kernels_->kernels.data() : own_kernels_.data();
  }
  // The other processes of the job; null if this one has all devices.
  RankGroup* ranks() { return ranks_.get(); }
  // By pool: its rank. Empty without ranks().
  const std::vector<int>& rank_of_pool() const { return rank_of_pool_; }
  // The rank whose memory has the input. REQUIRES: ranks().
  int rank_of_input(size_t index) const {
    return rank_of_pool_[module_->main().decl->inputs[index].pool];
  }
  // Whether another rank has the memory of an input.
  bool has_inputs_on_ranks() const;
  const BoundDevices& devices() const { return devices_; }
  const BoundExternals& externals() const { return externals_; }
  Executor& executor() { return *executor_; }
  int threads() const { return threads_; }
  // The threads that a loop of a call should use now, from 1 to threads(): its share while other
  // calls of the scheduler run. Results do not depend on it.
  int loop_threads() const {
    return scheduler_ == nullptr ? threads_ : std::max(threads_ / scheduler_->active_calls(), 1);
  }
  // Null if emulation is off.
  const Emulation* emulation() const { return emulation_.get(); }
  // Whether calls can wait: for the work of devices, of other ranks, or for emulated delays.
  bool can_wait() const { return !devices_.are_all_cpus() || emulation_ != nullptr; }
  // Null without a scheduler.
  const std::shared_ptr<CallScheduler>& scheduler() const { return scheduler_; }
  // A need of 0 bytes in the pool of the scheduler that limits a pool of the module, if any.
  const std::optional<Need>& scheduled_pool(uint32_t index) const {
    return scheduled_pools_[index];
  }
  // The pools that a scope of an option denotes: for each pool of the module, whether it does.
  // Errors: kInvalidArgument (it denotes none).
  Result<std::vector<bool>> pools_of(const std::string& scope) const;
  runtime::ScopeMemory& pool(uint32_t index) { return *pools_[index]; }
  CallMetrics& metrics() { return metrics_; }
  size_t pool_count() const { return pools_.size(); }

  // Allocates a storage with one reference. Errors: kOutOfMemory, kResourceLimit, kDevice (the
  // device whose driver allocates the pool's blocks is lost), kInvalidArgument (an embedder's
  // allocator returned a misaligned block). Thread-safe.
  // Takes the bytes from the reserved memory of `context` if it has room.
  Status allocate(const CallContext& context, uint32_t pool, int64_t bytes,
                  runtime::Storage** storage);
  // Allocates a storage that is not of a call, with one reference. The scheduler holds its bytes
  // until its release. Errors: those of allocate(), and kResourceLimit (the capacity of a pool).
  // Thread-safe.
  Status allocate_held(uint32_t pool, int64_t bytes, runtime::Storage** storage);

  // Session::reserve().
  Status reserve(const std::map<std::string, DimRange>& dims, int calls);
  bool has_reserved() const { return has_reserved_.load(std::memory_order_relaxed); }

  // Takes a context from the free list, or creates one. Thread-safe, like return_context().
  std::unique_ptr<CallContext> take_context();
  // Returns cached blocks to their sources, and releases the spare contexts. Thread-safe.
  void trim();
  // Adds a context to the free list. Called by destructors; does not throw. REQUIRES: the context
  // does not run.
  void return_context(std::unique_ptr<CallContext> context);

 private:
  BoundSession() = default;
  // Frees memory of the device that allocates the pool's blocks: returns the cached blocks of all
  // pools that this device supplies. Does nothing and returns false if the operating system
  // allocates the pool's blocks.
  bool make_room(uint32_t pool);
  Status allocate(uint32_t pool, int64_t bytes, runtime::Storage** storage,
                  runtime::Region* region);
  Status bind_pools(const SessionOptions& options);
  Status bind_scheduler(const SessionOptions& options);
  Status bind_ranks(const scopevm_transport* transport);
  Status bind_allocator(const ScopeAllocator& binding,
                        std::vector<std::shared_ptr<Allocator>>& allocators) const;
  Result<std::shared_ptr<Allocator>> make_pool_allocator(const ScopeAllocator& binding,
                                                         const format::PoolDecl& pool) const;

  // Destroyed last: pools report the release of results to it.
  std::shared_ptr<CallScheduler> scheduler_;
  std::vector<std::optional<Need>> scheduled_pools_;  // by pool of the module
  std::vector<Need> held_;                            // of constants
  std::shared_ptr<const LoadedModule> module_;
  const KernelTable* kernels_ = nullptr;
  std::vector<KernelFn> own_kernels_;  // see cpu_kernels()
  std::unique_ptr<RankGroup> ranks_;   // declared before the devices, which use it
  std::vector<int> rank_of_pool_;
  // Declared before the pools, and therefore destroyed after them: pools return their blocks to the
  // devices.
  BoundDevices devices_;
  BoundExternals externals_;
  std::shared_ptr<Executor> executor_;
  int threads_ = 1;
  std::vector<std::shared_ptr<runtime::ScopeMemory>> pools_;
  std::unique_ptr<const Emulation> emulation_;
  CallMetrics metrics_;
  std::atomic<bool> has_reserved_{false};
  std::atomic<CallContext*> last_returned_{nullptr};  // owned; a spare context, or null
  std::mutex mutex_;
  // Has capacity for all contexts, so that return_context() cannot fail.
  std::vector<std::unique_ptr<CallContext>> spare_;
  size_t context_count_ = 0;
};

}  // namespace scopevm::vm

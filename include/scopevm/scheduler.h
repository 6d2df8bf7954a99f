/// @file
/// Scheduler: runs the calls of several sessions on its workers, within the memory that they share.
///
///     auto scheduler = Scheduler::create({.workers = 2, .capacities = {{"cpu.global", 1 << 28}}});
///     auto session = Session::create(*module, {.scheduler = *scheduler});
///     auto call = session->make_call();
///     call->set_input("x", x);
///     call->submit({.priority = 1}, [](const Status& status) { ... });
///     call->wait();
///
/// A call needs its memory bound (Module::bound) in each pool, and its budgets for memory whose
/// size depends on data. It starts when this fits in all pools at once, in addition to the calls
/// that run and the results that are not released. No two calls can therefore each hold memory for
/// which the other waits, and an admitted call cannot fail because of a capacity, unless it exceeds
/// its budget. Results hold memory until they are released: a program that keeps them while it
/// waits for other calls can wait for ever. Release them in the function that submit() calls at the
/// end, or set buffers.
///
/// Thread-safety: all methods can be called concurrently.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/c/scheduler.h"
#include "scopevm/status.h"

namespace scopevm {

/// The capacity of one pool: of a memory scope of one device.
struct PoolCapacity {
  std::string pool;   ///< device and scope, as in the modules: "cpu.global.workspace"
  int64_t bytes = 0;  ///< at least 0
};

/// The options of Scheduler::create().
struct SchedulerOptions {
  int workers = 0;  ///< threads that run calls, at most 4096; 0: one per CPU
  /// The numbers of the CPUs on which the workers run, and the threads of parallel loops in the
  /// calls of sessions without an executor of their own. Empty: all CPUs of the process. Memory is
  /// then taken from the NUMA node of the first CPU that writes to it: see cpus_of_numa_node().
  std::vector<int> cpus;
  /// How long a worker that has no call waits actively for the next one, from 0 to 1 second, before
  /// it sleeps. It yields its CPU to other threads meanwhile. The system takes tens of microseconds
  /// to wake a worker that sleeps.
  std::chrono::nanoseconds spin = std::chrono::nanoseconds(0);
  /// The pools that the sessions share. A pool without an entry is not limited.
  std::vector<PoolCapacity> capacities;
  /// Calls that can wait for memory or a worker; a further Call::submit() fails with
  /// kResourceLimit.
  size_t max_waiting = size_t{1} << 20;
  /// How often calls that fit can be admitted before one that does not fit yet, at least 0.
  int max_bypass = 16;
  /// The waiting time that counts as much as a priority higher by one, from 1 ns to 1 hour.
  std::chrono::nanoseconds ageing = std::chrono::seconds(1);
  /// Calls of modules with non-CPU devices, or with emulated delays, that can run at once, at least
  /// 1. Workers run other calls while these wait for their devices. Each needs a stack, of which it
  /// uses at most 16 KiB, and the memory of a run.
  size_t max_suspended = 1024;
};

/// The numbers of the CPUs of a NUMA node, for SchedulerOptions::cpus. Errors: kNotFound (this
/// machine has no such node), kOutOfMemory.
Result<std::vector<int>> cpus_of_numa_node(int node);

/// The use of one pool.
struct PoolUse {
  std::string pool;            ///< its name in SchedulerOptions::capacities
  int64_t capacity_bytes = 0;  ///< its capacity
  int64_t reserved_bytes = 0;  ///< of calls that were admitted and have not ended
  int64_t held_bytes = 0;      ///< of results of ended calls that are not released
};

/// The state of a scheduler at one time.
struct SchedulerStats {
  size_t waiting = 0;          ///< calls that wait for memory
  size_t ready = 0;            ///< admitted calls that wait for a worker
  size_t running = 0;          ///< calls that run, or have just ended
  std::vector<PoolUse> pools;  ///< one per capacity
};

/// A handle with shared ownership. The scheduler is destroyed with its last handle and session; its
/// workers first end the calls that were submitted.
class Scheduler {
 public:
  /// Starts the workers. Errors: kInvalidArgument (an option is out of range, a CPU is not one of
  /// the process, or a pool has two capacities), kOutOfMemory, kResourceLimit (the system cannot
  /// start a thread).
  static Result<Scheduler> create(SchedulerOptions options = {});

  /// The current state. Errors: kOutOfMemory.
  Result<SchedulerStats> stats() const;
  /// The number of workers.
  int workers() const;

  /// The scheduler of a handle of the C API, of which it takes ownership. Throws std::bad_alloc,
  /// and then releases the handle.
  static Scheduler adopt(scopevm_scheduler* handle) {
    return Scheduler(std::shared_ptr<scopevm_scheduler>(handle, scopevm_scheduler_free));
  }
  /// The handle in the C API. Valid as long as a copy of this object.
  const scopevm_scheduler* c_scheduler() const { return handle_.get(); }

 private:
  explicit Scheduler(std::shared_ptr<scopevm_scheduler> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<scopevm_scheduler> handle_;
};

}  // namespace scopevm

#include "scopevm/layer/scheduler.h"  // IWYU pragma: export

/// @file
/// Call: one inference request, its options, statistics and trace.
///
///     auto call = session->make_call();
///     call->set_input("x", x);
///     Status status = call->run();
///     std::span<const Tensor> results = call->outputs();
///
/// A failed call releases all memory that it allocated, and can run again.
///
/// Every function that can run out of memory fails with kOutOfMemory, in addition to the errors
/// that its comment lists. An exception of an embedder's executor, trace sink or external library
/// ends the call with kInternal, or with kOutOfMemory if it is std::bad_alloc.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/c/call.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm {

/// Limits the live bytes of the session in one memory scope: those of all calls, results and
/// constants. A call that would exceed the limit fails with kResourceLimit.
struct ScopeLimit {
  std::string scope;  ///< of every device ("global.workspace") or of one ("npu.global.workspace")
  int64_t bytes = 0;  ///< maximum of the live bytes, at least 0
};

/// The value of a dimension in a traced call.
struct TraceDim {
  std::string_view name;  ///< of the dimension; valid as long as the module
  int64_t value = 0;      ///< its value
};

/// One interval of a traced call. All names are valid as long as the module.
struct TraceEvent {
  /// What happened in the interval.
  enum class Kind : uint8_t {
    kCall,      ///< the whole call
    kFunction,  ///< a call of a function or closure of the model, its callees included
    kLaunch,    ///< a kernel launch, or a run of an external function
    kCopy,      ///< a copy from one memory scope to another
    /// A submitted call waited for "memory" or for a "worker" of the scheduler, which is the name.
    /// Before kCall, and outside of its interval.
    kWait,
    /// The live bytes of a memory scope have changed. The duration is 0.
    kMemory,
  };
  /// Where it happened. The intervals of one lane are disjoint or nested.
  enum class Lane : uint8_t {
    /// On the thread that runs the call. A launch on a non-CPU device, or a copy from or to its
    /// memory, lasts here until the driver has accepted it.
    kCaller,
    /// On a worker of the executor: its part of a launch that runs as a parallel loop, from the
    /// start of the worker's first range to the end of its last one.
    kWorker,
    /// On a non-CPU device: the execution of a launch or copy. Only with
    /// SessionOptions::time_devices, and only if the driver measures times.
    kDevice,
  };
  Kind kind = Kind::kLaunch;     ///< what happened
  Lane lane = Lane::kCaller;     ///< where it happened
  int64_t worker = 0;            ///< index of the worker, for Lane::kWorker
  std::string_view name;         ///< the function of a call; the model's ops of a launch or copy
  std::string_view kernel;       ///< symbol of a launch's kernel or external function; else empty
  std::string_view device;       ///< that executes a launch or copy, or of kMemory; else empty
  std::string_view from_device;  ///< of a copy's source; else empty
  std::string_view from_scope;   ///< of a copy's source; else empty
  std::string_view to_device;    ///< of a copy's destination; else empty
  std::string_view to_scope;     ///< of a copy's destination; else empty
  /// Of a copy: its size. Of a launch: the sum, over its operands, results and temporaries, of the
  /// bytes that the kernel may access; 0 for a run of an external function. Of a call: the sum of
  /// ScopeUse::peak_bytes. Of kMemory: the live bytes of all calls and results of the session.
  int64_t bytes = 0;
  int64_t start_ns = 0;     ///< time since the epoch of std::chrono::steady_clock
  int64_t duration_ns = 0;  ///< end of the interval minus its start
  std::string_view scope;   ///< memory scope of kMemory; else empty
  uint64_t request_id = 0;  ///< CallOptions::request_id
  /// Result of a call, or of a wait that ended without a run; else kOk.
  StatusCode status = StatusCode::kOk;
  std::span<const TraceDim> dims;  ///< of a call; valid during record(); else empty
};

/// Receives the events of a call, on the thread that runs it. A sink that several calls use at once
/// must be thread-safe.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Called after the end of the interval. `event` is valid during the call of this method. A
  /// failed call has the events of what it did, too.
  virtual void record(const TraceEvent& event) = 0;
};

class ExecutionHook;

/// The options of one run of a call.
struct CallOptions {
  /// A call that passes the deadline fails with kDeadlineExceeded. Deadline and `cancel` are
  /// checked before every launch and function call, in string operations, before and after each run
  /// of an external function, in loops of the graph, during emulated delays, and at the end of the
  /// call. They are also checked while CPU kernels run: every kernel checks at least after each
  /// half millisecond of work, and returns early. Runs of external functions, and kernels of other
  /// devices, are not interrupted.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// The call fails with kCancelled when this becomes true. Can be null. Must outlive the run.
  const std::atomic<bool>* cancel = nullptr;
  TraceSink* trace = nullptr;  ///< null: no trace; must outlive the run
  /// Sees the state between the instructions (scopevm/execution_hook.h). Null: none. Must outlive
  /// the run.
  ExecutionHook* hook = nullptr;
  /// Identifies the run in the trace and in the log. 0: submitted and traced runs get a number that
  /// is unique in the process.
  uint64_t request_id = 0;
};

/// The options of Call::submit().
struct SubmitOptions {
  CallOptions call;  ///< the deadline includes the time of waiting
  int priority = 0;  ///< from -1000 to 1000; calls with a higher priority are admitted first
  /// Bytes that the call may use in a memory scope for memory whose size depends on data, in
  /// addition to its bound. A call that exceeds them fails with kResourceLimit. Needed for scopes
  /// that have such memory and a capacity.
  std::vector<ScopeLimit> data_budgets;
  /// If no call waits and a worker is idle, submit() itself runs the call, calls `done`, and
  /// returns afterwards: a call of microseconds does not wait until a worker wakes. Otherwise, and
  /// for calls that wait for devices, a worker runs the call. Like a worker, the thread must not
  /// wait for calls in `done`.
  bool can_run_here = false;
};

/// The memory that one call used in one memory scope of one device.
struct ScopeUse {
  std::string_view device;  ///< valid as long as the module
  std::string_view scope;   ///< valid as long as the module
  /// Module::memory_bound() at this call's dims, with the actual sizes of data-dependent storages.
  /// At least `peak_bytes` if the scope has such storages.
  int64_t bound_bytes = 0;
  int64_t lower_bound_bytes = 0;  ///< the lower bound at this call's dims
  int64_t peak_bytes = 0;         ///< maximum of live bytes during the call, results included
  int64_t allocations = 0;        ///< number of allocations from the scope's allocator
};

/// The copies of one call from one memory scope to another. Names are valid as long as the module.
struct CopyUse {
  std::string_view from_device;  ///< device of the source
  std::string_view from_scope;   ///< memory scope of the source
  std::string_view to_device;    ///< device of the destination
  std::string_view to_scope;     ///< memory scope of the destination
  int64_t copies = 0;            ///< number of copies
  int64_t bytes = 0;             ///< sum of their sizes
};

/// Statistics of one run of a call.
struct CallStats {
  int64_t latency_ns = 0;        ///< duration of the run
  std::string_view function;     ///< "main", or the variant that ran; valid as long as the module
  std::vector<ScopeUse> memory;  ///< one per pool of the module
  std::vector<CopyUse> copies;   ///< one per pair of memory scopes with copies
  /// With SessionOptions::emulate: the sum of the emulated minimum times of copies and launches. It
  /// depends on the module, the inputs and the number of threads only, not on this machine's speed.
  double emulated_seconds = 0;
};

class State;

/// One inference request. A Call is reusable: inputs and outputs stay set until they are replaced.
/// It keeps its session alive. Thread-safety: one thread at a time.
class Call {
 public:
  /// A call that was moved from can only be destroyed or assigned to. A call that is in flight is
  /// cancelled when it is destroyed. The destructor waits like wait().
  Call(Call&& other) noexcept;
  /// The previous state of this call is released.
  Call& operator=(Call&& other) noexcept;
  ~Call();

  /// The index of an input. The message of kNotFound suggests the most similar name.
  Result<size_t> find_input(std::string_view name) const;
  /// Like find_input(), for an output.
  Result<size_t> find_output(std::string_view name) const;

  /// Sets an input that is a tensor, or an optional tensor with a value. An empty tensor unsets the
  /// input, which then has its default if there is one. Errors: kNotFound (no such input),
  /// kInvalidArgument (wrong kind, rank, dim or element type; the message names the input, the
  /// expected and the given value).
  Status set_input(size_t index, const Tensor& tensor);
  /// Like the overload above, by name.
  Status set_input(std::string_view name, const Tensor& tensor);
  /// Sets an input that is a sequence, or an optional sequence with a value. Elements can differ in
  /// the dims that are "?" in the signature. Errors: those of set_input(), and kInvalidArgument if
  /// the input is not a sequence.
  Status set_sequence(size_t index, std::vector<Tensor> elements);
  /// Like the overload above, by name.
  Status set_sequence(std::string_view name, std::vector<Tensor> elements);
  /// Sets an optional input to no value. Errors: kNotFound, kInvalidArgument (the input is not an
  /// optional).
  Status set_no_value(size_t index);
  /// Like the overload above, by name.
  Status set_no_value(std::string_view name);
  /// Sets the buffer that receives a result. It must have the result's shape and must not overlap
  /// an input or another output, except that a state output of the module can have the buffer of
  /// its input (CompileOptions::states). Without a buffer, each run allocates a storage for the
  /// result; string results never use a buffer. An empty tensor unsets the buffer. Errors:
  /// kNotFound, kInvalidArgument (string result, result that is not a tensor, read-only tensor, or
  /// an element type, rank or fixed dim that differs from the signature).
  Status set_output(size_t index, const Tensor& tensor);
  /// Like the overload above, by name.
  Status set_output(std::string_view name, const Tensor& tensor);
  /// Sets a buffer for a result whose size the caller does not know. `data` has `capacity` bytes
  /// and is aligned to the element size. output() is then a tensor in this buffer, with the dims of
  /// the run. A run whose result is larger fails with kInvalidArgument; the message has both sizes.
  /// Null `data` unsets the buffer. Errors: those of set_output(), and of Tensor::borrow().
  Status set_output_buffer(size_t index, void* data, int64_t capacity);
  /// Sets the state (scopevm/state.h) that has the values of some inputs and receives some outputs;
  /// these inputs and buffers of these outputs must be unset. The result of such an output is a
  /// read-only view of the state: the next call or function that uses the state can change it.
  /// Errors: kInvalidArgument (the state is of another session, or the call is in flight).
  Status set_state(const State& state);
  /// Unsets the state. Errors: kInvalidArgument (the call is in flight).
  Status unset_state();

  /// Runs the request and waits for its end: on the calling thread, or with a scheduler on one of
  /// its workers, like submit() and wait(). Errors:
  /// - kInvalidArgument: a state that is in use; missing input; input dims that are inconsistent,
  /// out of bounds or rejected
  ///   by a check; input elements that an op rejects; output buffer of the wrong shape, or that
  ///   overlaps an input or another output
  /// - kOutOfMemory, kResourceLimit, kCancelled, kDeadlineExceeded
  /// - kDevice: a device failed; the message names the device and the cause
  /// - kInvalidModel: the module computed an invalid value, such as a storage size below 0
  /// - the code that an external library returned; the message names the function and the library
  Status run(const CallOptions& options = {});

  /// Queues the request; a worker of the session's scheduler runs it. `done` (can be empty) is
  /// called once with the result, when the call is idle again, on a worker, on the thread that ends
  /// its waiting, or in submit() itself. It can use, submit or destroy the call. It must not throw,
  /// and must not wait for other calls: run() and wait() fail on threads of the scheduler. While
  /// the call is in flight, only cancel(), wait() and is_in_flight() can be used; the other
  /// functions fail, return nothing or have no effect. options.call.trace and options.call.cancel
  /// must outlive the run. If submit() fails, `done` is not called. Errors:
  /// - kInvalidArgument: the session has no scheduler, the call is in flight, inputs as for run(),
  ///   a priority out of range, a budget for an unknown scope or missing
  /// - kResourceLimit: the call needs more than the capacity of a pool (the message names the pool
  ///   and the missing bytes), or SchedulerOptions::max_waiting calls wait already
  /// - kOutOfMemory, and the errors of Module::bound()
  Status submit(const SubmitOptions& options = {}, std::function<void(const Status&)> done = {});
  /// Waits until the call is idle and `done` has returned, except if `done` calls this. Returns the
  /// result of the last submit(); ok if there was none. Errors: also kInvalidArgument on a thread
  /// of the scheduler, if the call is in flight.
  Status wait() const;
  /// Like wait(), for at most `timeout`. Errors: kDeadlineExceeded if the call is still in flight.
  Status wait_for(std::chrono::nanoseconds timeout) const;
  /// True from submit() until the call has ended. Thread-safe.
  bool is_in_flight() const;
  /// Cancels the run in progress, or the submitted one, which fails with kCancelled. If there is
  /// none, the next run is cancelled. Thread-safe.
  void cancel();

  /// The results of the last run, in signature order; empty if it failed. A sequence or an optional
  /// is represented by an empty tensor: see elements(). So is a state in memory of another rank of
  /// a job (docs/ranks.md): see State::value().
  std::span<const Tensor> outputs() const;
  /// One of outputs(). Errors: kNotFound (no such output, or no results).
  Result<Tensor> output(std::string_view name) const;
  /// False for an optional without a value, true for all other results. Errors: kNotFound.
  Result<bool> has_value(size_t output) const;
  /// The tensors of a result: the elements of a sequence, or the single tensor of a tensor or
  /// optional tensor. Empty for an optional without a value. Valid until the next run. Errors:
  /// kNotFound.
  Result<std::span<const Tensor>> elements(size_t output) const;
  /// Like the overload above, by name.
  Result<std::span<const Tensor>> elements(std::string_view name) const;
  /// Releases the results now. Otherwise, the next run or the destructor releases them.
  void clear_outputs();
  /// Statistics of the last run; empty if its inputs were invalid.
  const CallStats& stats() const;

  /// The call of a handle of the C API, of which it takes ownership.
  static Call adopt(scopevm_call* handle) noexcept { return Call(handle); }
  /// The handle in the C API. Valid as long as this object.
  scopevm_call* c_call() const { return handle_; }

 private:
  explicit Call(scopevm_call* handle) noexcept : handle_(handle) {}
  scopevm_call* handle_ = nullptr;
  mutable std::unique_ptr<CallStats> stats_;  // what stats() returns
};

}  // namespace scopevm

#include "scopevm/layer/call.h"  // IWYU pragma: export

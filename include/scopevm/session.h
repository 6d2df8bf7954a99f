/// @file
/// Session: a module bound to devices, allocators and threads. Call: one inference request.
///
///     auto module = Module::load("module.bc");
///     auto session = Session::create(*module, {.threads = 2});
///     auto results = session->call({{x}});
///
/// A failed call releases all memory that it allocated, and the session remains usable. The
/// exception is a lost device: every later call then fails with the original error, and the
/// embedder must create another session.
///
/// Every function that can run out of memory fails with kOutOfMemory, in addition to the errors
/// that its comment lists. An exception of an embedder's executor, trace sink or external library
/// ends the call with kInternal, or with kOutOfMemory if it is std::bad_alloc.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/allocator.h"
#include "scopevm/c/export.h"
#include "scopevm/c/external.h"
#include "scopevm/executor.h"
#include "scopevm/module.h"
#include "scopevm/scheduler.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm {

/// Creates the allocator of a pool. `source` supplies the memory of the pool: a driver of a device,
/// or null for the operating system. The host cannot always access it. Every block is aligned to
/// `alignment`.
using AllocatorFactory = std::function<Result<std::shared_ptr<Allocator>>(
    std::shared_ptr<BlockSource> source, int64_t alignment)>;

/// The allocator of a memory scope. A pool has at most one.
struct ScopeAllocator {
  std::string scope;  ///< of every device ("global.workspace") or of one ("cpu.global.workspace")
  /// Shared with the session. For scopes of CPUs only: blocks are host memory.
  std::shared_ptr<Allocator> allocator;
  /// If `allocator` is null: called for each pool of the scope, also of non-CPU devices. See
  /// make_allocator() in scopevm/allocators.h.
  AllocatorFactory make;
};

/// Limits the live bytes of the session in one memory scope: those of all calls, results and
/// constants. A call that would exceed the limit fails with kResourceLimit.
struct ScopeLimit {
  std::string scope;  ///< of every device ("global.workspace") or of one ("npu.global.workspace")
  int64_t bytes = 0;  ///< maximum of the live bytes, at least 0
};

/// Binds a device of the module to a physical device. An unbound device defaults to the ordinal
/// recorded in the module: its position among the devices of its kind in the machine description.
struct DeviceBinding {
  std::string device;  ///< the device's name in the module
  std::string kind;    ///< the device's kind in the module
  int number = 0;      ///< ordinal among this machine's devices of the kind (`scopevm machine`)
};

/// An external library (scopevm/c/external.h) in a shared object:
///
///     auto library = ExternalLibrary::load("dnnl");
///     auto session = Session::create(module, {.external_libraries = {library->get()}});
///
/// It is never unloaded, because libraries can run their own threads. Copies
/// refer to the same plug-in. Thread-safety: a value type.
class SCOPEVM_API ExternalLibrary {
 public:
  /// Loads a plug-in. A name without `/` and `.`, such as "dnnl", denotes libscopevm_NAME.so: in
  /// the folder of libscopevm.so, else where the dynamic loader finds it. Any other name is the
  /// path of a file. Errors: kNotFound (no such file, or it lacks a dependency or
  /// SCOPEVM_EXTERNAL_ENTRY), kUnsupported (the plug-in does not support
  /// SCOPEVM_EXTERNAL_ABI_VERSION), kOutOfMemory.
  static Result<ExternalLibrary> load(const std::string& name);

  /// The library. Valid until the process ends.
  const scopevm_external_library* get() const { return library_; }

 private:
  explicit ExternalLibrary(const scopevm_external_library* library) : library_(library) {}
  const scopevm_external_library* library_;
};

/// The options of Session::create().
struct SessionOptions {
  /// Workers of the default executor, at most 4096; 0: one per CPU. If the system cannot start all
  /// of them, loops use fewer: see Session::running_threads().
  int threads = 1;
  std::vector<DeviceBinding> devices;      ///< devices without an entry have their default
  std::vector<ScopeAllocator> allocators;  ///< pools without an entry have the default
  /// If set, called once for each pool, of all devices. The pool uses the returned allocator, which
  /// forwards to `allocator` (the default one, or that of `allocators`) and can observe, count or
  /// fail its calls. Blocks of a non-CPU device are not always accessible to the host.
  std::function<std::shared_ptr<Allocator>(std::string_view device, std::string_view scope,
                                           std::shared_ptr<Allocator> allocator)>
      wrap_allocator;
  std::vector<ScopeLimit> memory_limits;  ///< in addition to the limits in the module
  std::shared_ptr<Executor> executor;     ///< null: the default one; when set, `threads` is ignored
  /// Runs the calls of the session, within the memory that its sessions share. Without one, each
  /// call runs on the thread that calls Call::run(). The constants of the module in pools that
  /// calls use count as held.
  std::optional<Scheduler> scheduler;
  /// Delays copies, the launches of CPU kernels and external functions to the minimum durations
  /// that follow from the bandwidth and latency of the pools (docs/machine.md, "Emulation"). At
  /// least one pool of the module must have a bandwidth or a latency.
  bool emulate = false;
  /// Lets traces contain the times at which non-CPU devices executed launches and copies
  /// (TraceEvent::Lane::kDevice). Some drivers then execute commands more slowly.
  bool time_devices = false;
  /// The libraries that compute the external functions of the module. Not owned: they must outlive
  /// the session and its calls. Libraries that the module does not use are ignored. Names are
  /// unique.
  std::vector<const scopevm_external_library*> external_libraries;
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
class SCOPEVM_API TraceSink {
 public:
  virtual ~TraceSink();
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

/// The memory of a session in one memory scope of one device: that of all calls and results, and of
/// the constants in a pool that calls also use.
struct ScopeStats {
  std::string device;     ///< name of the device in the module
  std::string scope;      ///< memory scope
  AllocatorStats memory;  ///< counters of the pool
};

namespace vm {
class BoundSession;
class Request;
}  // namespace vm
class State;

/// One inference request. A Call is reusable: inputs and outputs stay set until they are replaced.
/// It keeps its session alive. Thread-safety: one thread at a time.
class SCOPEVM_API Call {
 public:
  /// A call that was moved from can only be destroyed or assigned to. A call that is in flight is
  /// cancelled when it is destroyed. The destructor waits like wait().
  Call(Call&&) noexcept;
  /// The previous state of this call is released.
  Call& operator=(Call&&) noexcept;
  ~Call();

  /// The index of an input. The message of kNotFound suggests the most similar name.
  Result<size_t> find_input(std::string_view name) const;
  /// Like find_input(), for an output.
  Result<size_t> find_output(std::string_view name) const;

  /// Sets an input that is a tensor, or an optional tensor with a value. An empty tensor unsets the
  /// input. Errors: kNotFound (no such input), kInvalidArgument (wrong kind, rank, dim or element
  /// type; the message names the input, the expected and the given value).
  Status set_input(size_t index, Tensor tensor);
  /// Like the overload above, by name.
  Status set_input(std::string_view name, Tensor tensor);
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
  /// an input or another output. Without a buffer, each run allocates a storage for the result;
  /// string results never use a buffer. An empty tensor unsets the buffer. Errors: kNotFound,
  /// kInvalidArgument (string result, result that is not a tensor, read-only tensor, or an element
  /// type, rank or fixed dim that differs from the signature).
  Status set_output(size_t index, Tensor tensor);
  /// Like the overload above, by name.
  Status set_output(std::string_view name, Tensor tensor);
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
  /// called once with the result, when the call is idle again, on a worker or on the thread that
  /// ends its waiting. It can use, submit or destroy the call. It must not throw, and must not wait
  /// for other calls: run() and wait() fail on threads of the scheduler. While the call is in
  /// flight, only cancel(), wait() and is_in_flight() can be used; the other functions fail, return
  /// nothing or have no effect. options.call.trace and options.call.cancel must outlive the run. If
  /// submit() fails, `done` is not called. Errors:
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
  /// is represented by an empty tensor: see elements().
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

 private:
  friend class Session;
  explicit Call(std::shared_ptr<vm::Request> request);
  std::shared_ptr<vm::Request> request_;
};

/// A handle with shared ownership; copies refer to the same session. Thread-safe: any number of
/// calls can run concurrently.
class SCOPEVM_API Session {
 public:
  /// Binds the module to devices, loads its kernel images, and copies constants to non-CPU devices.
  /// Errors:
  /// - kInvalidArgument: an option names an unknown device or scope, or has an invalid value
  /// - kResourceLimit: the constants exceed a limit
  /// - kUnsupported: no kernel image runs on this CPU, an external library has another ABI version
  ///   than SCOPEVM_EXTERNAL_ABI_VERSION, this build cannot run kernels on a device of
  ///   the module, or the blocks of a device have less than the alignment that the module requires
  /// - kInvalidModel: an image lacks a kernel, does not load, or its source does not build
  /// - kNotFound: this machine has no such device, or SessionOptions::external_libraries has no
  ///   library of the name that the module requires
  /// - kOutOfMemory, kDevice: an allocation or a driver failed
  /// - the code with which an external library failed to create a function
  static Result<Session> create(const Module& module, SessionOptions options = {});

  /// Runs one request. Inputs and results are in signature order; the call runs `main` or the
  /// variant that admits the dims. Sequence inputs, optional inputs without a value and results
  /// that are not tensors need a Call. Errors: those of Call::set_input() and Call::run().
  Result<std::vector<Tensor>> call(std::span<const Tensor> inputs,
                                   const CallOptions& options = {}) const;
  /// Creates a call of this session. The call reuses the memory of earlier calls. Errors:
  /// kOutOfMemory.
  Result<Call> make_call() const;

  /// Allocates the memory of `calls` concurrent calls now: that of Module::largest_bound(dims) in
  /// each memory scope. Calls whose dims are in these ranges then take no memory from allocators,
  /// the operating system or devices, while at most `calls` calls run or have results that are not
  /// released. Exceptions are memory whose size depends on data, and functions that are called but
  /// not inlined, if their storages are not released in reverse order. Other calls use the
  /// allocators, as before. The memory belongs to the session and its results; trim() does not
  /// return it. A second reservation adds to the first. Thread-safe. If it fails, nothing is
  /// reserved. Errors: those of Module::largest_bound(), kInvalidArgument (`calls` below 1),
  /// kResourceLimit (a limit of the session is lower), kOutOfMemory.
  Status reserve(const std::map<std::string, DimRange>& dims = {}, int calls = 1) const;

  /// Makes one call with zeros, empty strings and empty sequences as inputs, so that later calls
  /// need not start threads, let drivers build kernels, read pages of the module from its file, or
  /// take the memory of one call from the operating system. `dims` has the values of the named
  /// dimensions. Thread-safe. Errors: those of Module::input_shape() and Call::run(), which also
  /// fails if the model rejects zeros; what was prepared until then remains.
  Status warm_up(const std::map<std::string, int64_t>& dims = {},
                 const CallOptions& options = {}) const;

  /// The signature of the module. Valid as long as the session.
  const Signature& signature() const;
  /// The number of workers, at least 1.
  int threads() const;
  /// Executor::running_threads() of the session's executor.
  int running_threads() const;
  /// Current counters of all pools, one entry per pool. Errors: kOutOfMemory.
  Result<std::vector<ScopeStats>> memory_stats() const;
  /// Returns the cached blocks of all pools to the operating system and the devices, except the
  /// memory of reserve(), and releases the memory that is kept for later calls.
  void trim() const;

 private:
  friend struct SessionAccess;
  explicit Session(std::shared_ptr<vm::BoundSession> bound);
  std::shared_ptr<vm::BoundSession> bound_;
};

}  // namespace scopevm

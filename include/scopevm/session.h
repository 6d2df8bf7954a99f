/// @file
/// Session: a module bound to devices, allocators and threads.
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
/// that its comment lists.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/allocator.h"
#include "scopevm/c/external.h"
#include "scopevm/c/session.h"
#include "scopevm/c/transport.h"
#include "scopevm/call.h"
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
class ExternalLibrary {
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

/// The connection of this process to the other processes of a job (scopevm/c/transport.h,
/// docs/ranks.md):
///
///     auto transport = Transport::load("mpi");
///     auto session = Session::create(module, {.transport = transport->get()});
///     if (transport->get()->rank > 0) return session->follow();
///
/// Thread-safety: a value type.
class Transport {
 public:
  /// Loads a plug-in, by name or path as ExternalLibrary::load(), and connects to the other
  /// processes. It is never unloaded. Errors: kNotFound (no such file, or it lacks a dependency or
  /// SCOPEVM_TRANSPORT_ENTRY), kDevice (the connection failed), kOutOfMemory.
  static Result<Transport> load(const std::string& name);

  /// The transport. Valid until the process ends.
  const scopevm_transport* get() const { return transport_; }

 private:
  explicit Transport(const scopevm_transport* transport) : transport_(transport) {}
  const scopevm_transport* transport_;
};

/// The options of Session::create().
struct SessionOptions {
  /// Workers of the default executor, at most 4096; 0 or less: one per CPU. If the system cannot
  /// start all of them, loops use fewer: see Session::running_threads().
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
  /// The other processes of a job, each of which has a session of the same module with its own
  /// transport. Each computes what is on the devices of its rank. Rank 0 makes the calls, of which
  /// twice as many as there are ranks run at a time, at most 64, and others wait; the other ranks
  /// follow(). Not owned: it must outlive the session and its calls. Null: this process has the
  /// devices of all ranks.
  const scopevm_transport* transport = nullptr;
};

/// The memory of a session in one memory scope of one device: that of all calls and results, and of
/// the constants in a pool that calls also use.
struct ScopeStats {
  std::string device;  ///< name of the device in the module
  std::string scope;   ///< memory scope
  /// Live and peak bytes and allocations are those of the session. The other counters are those of
  /// the allocator, also of other sessions that share it.
  AllocatorStats memory;
};

namespace layer {
struct SessionHandle;
}

/// A handle with shared ownership; copies refer to the same session. Thread-safe: any number of
/// calls can run concurrently.
class Session {
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

  /// On another rank than 0: runs its part of each request of rank 0, and returns when the session
  /// of rank 0 and its calls have been released. A request that fails does not end it. Starts a
  /// thread for each further request at a time. `trace` (can be null) receives the events of this
  /// rank in the requests that rank 0 traces, with their request_id; it must be thread-safe.
  /// Errors: kInvalidArgument (the session is that of rank 0, or has no transport), kDevice (the
  /// transport failed, for instance because a rank has ended).
  Status follow(TraceSink* trace = nullptr) const;

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

  /// The session of a handle of the C API, of which it takes ownership, also on failure. Errors:
  /// kOutOfMemory.
  static Result<Session> adopt(scopevm_session* handle);
  /// The handle in the C API. Valid as long as a copy of this object.
  const scopevm_session* c_session() const;

 private:
  explicit Session(std::shared_ptr<const layer::SessionHandle> handle)
      : handle_(std::move(handle)) {}
  std::shared_ptr<const layer::SessionHandle> handle_;
};

}  // namespace scopevm

#include "scopevm/layer/session.h"  // IWYU pragma: export

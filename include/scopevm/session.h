// Session: a module bound to devices, allocators and threads. Call: one request.
//
//   auto module = Module::load("module.bc");
//   auto session = Session::create(*module, {.threads = 2});
//   auto results = session->call({{x}});
//
// A call that fails leaves the session usable and every byte it took returned. Only when a device
// is lost, each call from then on fails with the cause: make another session.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/allocator.h"
#include "scopevm/executor.h"
#include "scopevm/export.h"
#include "scopevm/module.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm {

// Of a CPU: what other devices have comes from their drivers.
struct ScopeAllocator {
  std::string scope;  // "global.workspace" of every CPU, or "npu.global.workspace" of one
  std::shared_ptr<Allocator> allocator;
};

// The live bytes of all calls and results of the session in `scope` never exceed `bytes`; a call
// that would is ended with kResourceLimit.
struct ScopeLimit {
  std::string scope;  // "global.workspace" of each device, or "npu.global.workspace" of one
  int64_t bytes = 0;
};

// Which device of this machine a device of the module is. Without a binding it is the one with the
// number that the module says: its place among those of its kind in the machine's description.
struct DeviceBinding {
  std::string device;  // as the module calls it
  std::string kind;    // of the device, as the module says it
  int number = 0;      // among this machine's devices of the kind, as `scopevm machine` lists them
};

struct SessionOptions {
  int threads = 1;  // workers of the default executor; 0: one per core
  std::vector<DeviceBinding> devices;
  std::vector<ScopeAllocator> allocators;
  std::vector<ScopeLimit> memory_limits;
  std::shared_ptr<Executor> executor;  // null: the default one; when set, `threads` is ignored
  // Copies and launches take at least what the pools of the module's machine description say:
  // docs/machine.md, "Emulation". The module must say something.
  bool emulate = false;
};

// One launch of one call, with times since an arbitrary epoch.
struct TraceEvent {
  std::string_view name;    // the model's ops; valid as long as the module
  std::string_view kernel;  // the kernel's symbol; likewise
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
};

// Receives the launches of a call, on the thread that runs it.
class SCOPEVM_API TraceSink {
 public:
  virtual ~TraceSink();
  virtual void launched(const TraceEvent& event) = 0;
};

struct CallOptions {
  std::optional<std::chrono::steady_clock::time_point> deadline;  // then: kDeadlineExceeded
  const std::atomic<bool>* cancel = nullptr;  // when it becomes true: kCancelled
  TraceSink* trace = nullptr;
};

// What one call used of one scope of one device.
struct ScopeUse {
  std::string_view device;  // valid as long as the module
  std::string_view scope;
  int64_t bound_bytes = 0;  // from the module's formulas, at this call's dims
  int64_t lower_bound_bytes = 0;
  int64_t peak_bytes = 0;   // largest sum of live bytes during the call, results included
  int64_t allocations = 0;  // calls of the scope's allocator
};

// What one call copied from one memory scope to another.
struct CopyUse {
  std::string_view from_device;  // these are valid as long as the module
  std::string_view from_scope;
  std::string_view to_device;
  std::string_view to_scope;
  int64_t copies = 0;
  int64_t bytes = 0;
};

struct CallStats {
  int64_t latency_ns = 0;
  std::string_view function;  // "main", or the variant that ran; valid as long as the module
  std::vector<ScopeUse> memory;
  std::vector<CopyUse> copies;
  // With SessionOptions::emulate: the sum of what copies and launches were to take at least. It
  // follows from the module, the dims and the number of threads, not from how fast this machine is.
  double emulated_seconds = 0;
};

// Bytes of all calls and results of a session in one scope.
struct ScopeStats {
  std::string device;
  std::string scope;
  AllocatorStats memory;
};

namespace vm {
class BoundSession;
class CallContext;
}  // namespace vm

// One request, and reusable for the next: inputs, outputs and options stay set until replaced.
// Thread-safety: one thread at a time. Keeps its session alive.
class SCOPEVM_API Call {
 public:
  Call(Call&&) noexcept;
  Call& operator=(Call&&) noexcept;
  ~Call();

  // Errors: kNotFound (names the nearest input), kInvalidArgument (rank, dim or element type;
  // the message names the input, what is expected and what was given).
  Status set_input(size_t index, Tensor tensor);
  Status set_input(std::string_view name, Tensor tensor);
  // An input that is a sequence, or an optional one with a value; of an optional tensor with a
  // value, use set_input. Elements may differ in the dims that the signature calls "?". Errors:
  // likewise, and kInvalidArgument where the input is of another kind.
  Status set_sequence(std::string_view name, std::vector<Tensor> elements);
  // An optional without a value.
  Status set_no_value(std::string_view name);
  // A buffer to receive a result. Its shape must be the result's; it must not overlap an input or
  // another output. Without it, each run makes a storage for the result, as it always does for
  // texts. An empty tensor unsets.
  Status set_output(size_t index, Tensor tensor);
  Status set_output(std::string_view name, Tensor tensor);

  // Errors: kInvalidArgument (missing input, inputs that disagree, output of another shape),
  // kOutOfMemory, kResourceLimit, kCancelled, kDeadlineExceeded, kDevice (a device failed; the
  // message names it and says why).
  Status run(const CallOptions& options = {});

  // Results of the last successful run, in signature order.
  std::span<const Tensor> outputs() const;
  // Of a result that is no tensor: an empty tensor.
  Result<Tensor> output(std::string_view name) const;
  // False for an optional without a value. Errors: kNotFound.
  Result<bool> has_value(size_t output) const;
  // The elements of a sequence; of a tensor, or an optional one with a value, itself; none without.
  // Valid until the next run. Errors: kNotFound.
  Result<std::span<const Tensor>> elements(size_t output) const;
  Result<std::span<const Tensor>> elements(std::string_view name) const;
  // Drops the results, so that their storages can be reused by the next run.
  void clear_outputs();
  // Of the last run.
  const CallStats& stats() const;

 private:
  friend class Session;
  Status set_list(size_t index, bool has_value, std::vector<Tensor> elements);
  explicit Call(std::unique_ptr<vm::CallContext> context);
  std::unique_ptr<vm::CallContext> context_;
};

// A handle; copies share one session. Thread-safe: any number of calls may run at the same time.
class SCOPEVM_API Session {
 public:
  // Errors: kInvalidArgument (unknown scope in an option), kResourceLimit (constants alone are
  // over a limit), kUnsupported (no kernel image runs on
  // this CPU, or a device aligns its blocks to less than the module asks), kInvalidModel (an image
  // lacks a kernel, or its text does not build), kNotFound (no such device here), kOutOfMemory and
  // kDevice (of a device).
  static Result<Session> create(const Module& module, SessionOptions options = {});

  // Runs `main`, or the variant that admits the dims, on inputs in signature order. What is no
  // tensor needs a Call.
  Result<std::vector<Tensor>> call(std::span<const Tensor> inputs,
                                   const CallOptions& options = {}) const;
  Call make_call() const;

  const Signature& signature() const;
  int threads() const;
  std::vector<ScopeStats> memory_stats() const;
  // Gives cached blocks back to the system.
  void trim() const;

 private:
  friend struct SessionAccess;
  explicit Session(std::shared_ptr<vm::BoundSession> bound);
  std::shared_ptr<vm::BoundSession> bound_;
};

}  // namespace scopevm

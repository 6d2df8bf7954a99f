// The handle of a call of the C API, and the options of its runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "scopevm/call.h"
#include "scopevm/execution_hook.h"
#include "vm/api/c_support.h"
#include "vm/run/call/request.h"

namespace scopevm {

// Passes events to a function of the caller. A status that it returns is thrown as a StatusError.
class CTrace final : public TraceSink {
 public:
  using Function = scopevm_status* (*)(void* context, const scopevm_trace_event* event);
  CTrace(Function function, void* context) : function_(function), context_(context) {}
  void record(const TraceEvent& event) override;

 private:
  Function function_;
  void* context_;
};

// Calls a hook of the caller. A status that it returns is thrown as a StatusError.
class CHook final : public ExecutionHook {
 public:
  CHook(scopevm_execution_hook function, void* context) : function_(function), context_(context) {}
  bool at(const ExecutionState& state) override;

 private:
  scopevm_execution_hook function_;
  void* context_;
};

// The options of a run, and what they refer to.
struct RunFunctions {
  std::optional<CTrace> trace;
  std::optional<CHook> hook;

  // Must outlive the run. NULL: the defaults. Errors: those of read_options().
  Result<CallOptions> read(const scopevm_run_options* given);
};

}  // namespace scopevm

struct scopevm_call {
  explicit scopevm_call(std::shared_ptr<scopevm::vm::Request> of) : request(std::move(of)) {
    copied_bytes.resize(request->inputs.size());
  }
  scopevm_call(const scopevm_call&) = delete;
  scopevm_call& operator=(const scopevm_call&) = delete;
  // Cancels a call in flight, and waits for its end.
  ~scopevm_call();

  const std::shared_ptr<scopevm::vm::Request> request;
  std::vector<int64_t> copied_bytes;  // by input: of elements that had strides
  scopevm::RunFunctions submitted;    // of a submitted run
};

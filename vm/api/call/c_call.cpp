// The functions of the C API for the runs of calls (scopevm/c/call.h).
#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/tensor/tensor_access.h"
#include "scopevm/scopevm.h"
#include "vm/api/call/call_handle.h"
#include "vm/api/call/request_values.h"
#include "vm/run/call/ranks/follow.h"

namespace scopevm {
namespace {

using Clock = std::chrono::steady_clock;

// The earlier one of the times that end a run that starts now. No value if there is none: for
// `timeout_ns` of 0 or less, or beyond the range of the clock, and `deadline_ns` of 0.
std::optional<Clock::time_point> deadline_of(int64_t timeout_ns, int64_t deadline_ns) {
  std::optional<Clock::time_point> deadline;
  if (deadline_ns != 0) deadline = Clock::time_point(std::chrono::nanoseconds(deadline_ns));
  if (timeout_ns <= 0) return deadline;
  const Clock::time_point now = Clock::now();
  const std::chrono::nanoseconds timeout(timeout_ns);
  if (timeout >= Clock::time_point::max() - now) return deadline;
  return deadline ? std::min(*deadline, now + timeout) : now + timeout;
}

// Throws a status that a function of the caller returned, of which this takes ownership.
void throw_if_error(scopevm_status* given) {
  if (given == nullptr) return;
  runtime::StatusError error{given->status};
  scopevm_status_free(given);
  throw error;
}

Status run(scopevm_call& call, const scopevm_run_options* given) {
  vm::Request& request = *call.request;
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  RunFunctions functions;
  SCOPEVM_ASSIGN_OR_RETURN(const CallOptions options, functions.read(given));
  return vm::run_and_wait(request, options);
}

Status submit(scopevm_call& call, const scopevm_submit_options* given,
              void (*done)(void* context, const scopevm_status* result), void* context) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const scopevm_submit_options c,
      read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_submit_options, data_budget_size),
                   "scopevm_submit_options"));
  SCOPEVM_RETURN_IF_ERROR(call.request->check_idle());
  SubmitOptions options;
  SCOPEVM_ASSIGN_OR_RETURN(options.call, call.submitted.read(c.run));
  options.priority = c.priority;
  options.can_run_here = c.can_run_here != 0;
  SCOPEVM_ASSIGN_OR_RETURN(options.data_budgets,
                           to_limits(c.data_budgets, c.data_budget_count, c.data_budget_size,
                                     "data_budget_size", "budgets"));
  if (done == nullptr) return call.request->submit(options, {});
  return call.request->submit(options, [done, context](const Status& status) {
    if (status.ok()) return done(context, nullptr);
    const scopevm_status result{status};
    done(context, &result);
  });
}

Status wait(vm::Request& request, int64_t timeout_ns) {
  if (request.is_in_flight()) SCOPEVM_RETURN_IF_ERROR(request.check_may_wait());
  const Clock::time_point now = Clock::now();
  const std::chrono::nanoseconds timeout(timeout_ns);
  // A time beyond the range of the clock never passes.
  if (timeout_ns < 0 || timeout >= Clock::time_point::max() - now)
    return *request.wait(std::nullopt);
  if (std::optional<Status> outcome = request.wait(now + timeout)) return *std::move(outcome);
  return {StatusCode::kDeadlineExceeded, "the call is still in flight"};
}

// Releases the values of a request of a function when it ends. The worker that ran the request can
// keep it for a moment.
struct ReleasedValues {
  vm::Request& request;
  ~ReleasedValues() { request.release_values(); }
};

Status call_once(const std::shared_ptr<vm::BoundSession>& session, std::span<const Tensor> inputs,
                 const scopevm_run_options* given, std::span<scopevm_tensor> outputs) {
  RunFunctions functions;
  CallOptions options;
  if (given != nullptr) {
    SCOPEVM_ASSIGN_OR_RETURN(options, functions.read(given));
  }
  const auto owned = std::make_shared<vm::Request>(session);
  vm::Request& request = *owned;
  const ReleasedValues released{request};
  if (inputs.size() > request.inputs.size())
    return {StatusCode::kInvalidArgument, "expected at most " +
                                              runtime::count_text(request.inputs.size(), "input") +
                                              ", given " + std::to_string(inputs.size())};
  if (outputs.size() < request.outputs.size())
    return {StatusCode::kInvalidArgument,
            "room for " + runtime::count_text(outputs.size(), "output") + ", expected at least " +
                std::to_string(request.outputs.size())};
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].is_empty()) SCOPEVM_RETURN_IF_ERROR(vm::set_tensor(request, i, inputs[i]));
  SCOPEVM_RETURN_IF_ERROR(vm::run_and_wait(request, options));
  for (size_t i = 0; i < request.results.size(); ++i)
    outputs[i] = TensorAccess::release(std::move(request.results[i]));
  return {};
}

}  // namespace

Result<CallOptions> RunFunctions::read(const scopevm_run_options* given) {
  CallOptions options;
  if (given == nullptr) return options;
  SCOPEVM_ASSIGN_OR_RETURN(const scopevm_run_options c,
                           read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_run_options, request_id),
                                        "scopevm_run_options"));
  options.deadline = deadline_of(c.timeout_ns, c.deadline_ns);
  static_assert(sizeof(std::atomic<bool>) == 1);
  options.cancel = reinterpret_cast<const std::atomic<bool>*>(c.cancel);
  if (c.trace != nullptr) options.trace = &trace.emplace(c.trace, c.trace_context);
  if (c.hook != nullptr) options.hook = &hook.emplace(c.hook, c.hook_context);
  options.request_id = c.request_id;
  return options;
}

bool CHook::at(const ExecutionState& state) {
  throw_if_error(function_(context_, reinterpret_cast<const scopevm_execution_state*>(&state)));
  return true;
}

void CTrace::record(const TraceEvent& event) {
  // A view of an event is empty or the whole of a string.
  const auto text = [](std::string_view part) { return part.empty() ? "" : part.data(); };
  std::vector<scopevm_trace_dim> dims;
  for (const TraceDim& dim : event.dims) dims.push_back({scopevm::to_c(dim.name), dim.value});
  const scopevm_trace_event c = {sizeof(scopevm_trace_event),
                                 static_cast<int>(event.kind),
                                 static_cast<int>(event.lane),
                                 event.worker,
                                 text(event.name),
                                 text(event.kernel),
                                 text(event.device),
                                 text(event.from_device),
                                 text(event.from_scope),
                                 text(event.to_device),
                                 text(event.to_scope),
                                 event.bytes,
                                 event.start_ns,
                                 event.duration_ns,
                                 text(event.scope),
                                 event.request_id,
                                 static_cast<int>(event.status),
                                 dims.data(),
                                 dims.size(),
                                 sizeof(scopevm_trace_dim)};
  throw_if_error(function_(context_, &c));
}

}  // namespace scopevm

scopevm_call::~scopevm_call() {
  if (request->session->scheduler() == nullptr) return;
  if (request->is_in_flight()) request->cancel();
  (void)request->wait(std::nullopt);
  // The worker that ran the request can keep it for a moment.
  request->release_values();
}

using scopevm::checked;
using scopevm::Status;
using scopevm::Tensor;
using scopevm::TensorAccess;

scopevm_status* scopevm_call_create(const scopevm_session* session, scopevm_call** out) {
  return checked({{session, "session"}, {out, "out"}}, [&]() -> Status {
    *out = new scopevm_call(std::make_shared<scopevm::vm::Request>(session->bound));
    return {};
  });
}

void scopevm_call_free(scopevm_call* call) { delete call; }

scopevm_status* scopevm_call_run(scopevm_call* call, const scopevm_run_options* options) {
  // The common case, without the cost of checks that it does not need. run_here() does not throw.
  if (call != nullptr && options == nullptr && call->request->session->scheduler() == nullptr) {
    static const scopevm::CallOptions defaults;
    Status status = call->request->run_here(defaults);
    return status.ok() ? nullptr : scopevm::to_c(std::move(status));
  }
  return checked({{call, "call"}}, [&] { return scopevm::run(*call, options); });
}

scopevm_status* scopevm_session_call(const scopevm_session* session, const scopevm_tensor* inputs,
                                     size_t count, const scopevm_run_options* options,
                                     scopevm_tensor* outputs, size_t capacity) {
  return checked({{session, "session"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(inputs, count, "inputs"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(outputs, capacity, "outputs"));
    return scopevm::call_once(session->bound, {TensorAccess::array_of(inputs), count}, options,
                              {outputs, capacity});
  });
}

scopevm_status* scopevm_session_follow(const scopevm_session* session,
                                       const scopevm_run_options* options) {
  return checked({{session, "session"}}, [&]() -> Status {
    scopevm::RunFunctions functions;
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::CallOptions with, functions.read(options));
    return scopevm::vm::follow(session->bound, with.trace);
  });
}

scopevm_status* scopevm_session_warm_up(const scopevm_session* session, const char* const* names,
                                        const int64_t* values, size_t count,
                                        const scopevm_run_options* options) {
  return checked({{session, "session"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const auto dims, scopevm::to_dims(names, values, count));
    scopevm::RunFunctions functions;
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::CallOptions converted, functions.read(options));
    scopevm::Executor& executor = session->bound->executor();
    executor.parallel_for(executor.threads(), 1, [](void*, int64_t, int64_t, int64_t) {}, nullptr);
    const auto request = std::make_shared<scopevm::vm::Request>(session->bound);
    const scopevm::ReleasedValues released{*request};
    SCOPEVM_RETURN_IF_ERROR(scopevm::vm::set_zeros(*request, dims));
    return scopevm::vm::run_and_wait(*request, converted);
  });
}

scopevm_status* scopevm_call_submit(scopevm_call* call, const scopevm_submit_options* options,
                                    void (*done)(void* context, const scopevm_status* result),
                                    void* context) {
  return checked({{call, "call"}}, [&] { return scopevm::submit(*call, options, done, context); });
}

scopevm_status* scopevm_call_wait(const scopevm_call* call, int64_t timeout_ns) {
  return checked({{call, "call"}}, [&] { return scopevm::wait(*call->request, timeout_ns); });
}

int scopevm_call_is_in_flight(const scopevm_call* call) {
  return call != nullptr && call->request->is_in_flight() ? 1 : 0;
}

void scopevm_call_cancel(scopevm_call* call) {
  if (call != nullptr) call->request->cancel();
}

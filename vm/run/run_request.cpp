// Runs and submits requests: Call::run() and Call::submit().
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/log.h"
#include "runtime/tensor/tensor_access.h"
#include "runtime/without_exceptions.h"
#include "vm/isa/opcodes.h"
#include "vm/run/bound/bound.h"
#include "vm/run/call/bind.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/call_context.h"
#include "vm/run/call/interrupts.h"
#include "vm/run/call/request.h"
#include "vm/run/call/state/call_state.h"
#include "vm/run/fiber/call_fiber.h"
#include "vm/run/interpreter/interpreter.h"
#include "vm/run/trace/tracer.h"

namespace scopevm::vm {
namespace {

using runtime::without_exceptions;
using Clock = std::chrono::steady_clock;

// A function `done` that this thread runs. A function can end another call, and with it run the
// function of that call on the same thread.
struct RunningDone {
  const Request* request;
  const RunningDone* outer;
};
thread_local const RunningDone* innermost_done = nullptr;

bool is_in_done_of(const Request& request) {
  for (const RunningDone* done = innermost_done; done != nullptr; done = done->outer)
    if (done->request == &request) return true;
  return false;
}

void fill_stats(BoundSession& session, CallContext& context, CallStats& stats, int64_t latency_ns) {
  const std::vector<PoolAccount>& pools = context.pools();
  stats.latency_ns = latency_ns;
  stats.function = context.entry->decl->name;
  if (stats.memory.size() != pools.size()) {  // later runs have the same names
    stats.memory.resize(pools.size());
    for (size_t i = 0; i < pools.size(); ++i) {
      const MemoryScope& scope = session.module().memory_scopes()[i];
      stats.memory[i] = {scope.device, scope.scope};
    }
  }
  for (size_t i = 0; i < pools.size(); ++i) {
    ScopeUse& use = stats.memory[i];
    use.bound_bytes = pools[i].bound_bytes;
    use.lower_bound_bytes = pools[i].lower_bound_bytes;
    use.peak_bytes = pools[i].peak_bytes;
    use.allocations = pools[i].allocations;
  }
  stats.emulated_seconds = context.emulated_seconds;
  stats.copies.clear();
  for (const CopyAccount& copy : context.copies()) {
    const runtime::ScopeMemory &from = session.pool(copy.from_pool),
                               &to = session.pool(copy.to_pool);
    stats.copies.push_back(
        {from.device(), from.scope(), to.device(), to.scope(), copy.copies, copy.bytes});
  }
}

// RAII: takes a call context from the session and returns it on destruction.
class Lease {
 public:
  Lease(BoundSession& session, CallFiber* fiber)
      : session_(session),
        context_(on_thread_stack(fiber, [&] { return session.take_context(); })) {}
  ~Lease() { session_.return_context(std::move(context_)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  CallContext& operator*() { return *context_; }

 private:
  BoundSession& session_;
  std::unique_ptr<CallContext> context_;
};

// Records the live bytes after the call has released its memory, except for results.
void record_memory(BoundSession& session, CallContext& context, const RunOptions& options) {
  for (size_t i = 0; i < session.pool_count(); ++i) {
    if (context.pools()[i].allocations == 0) continue;
    const runtime::ScopeMemory& memory = session.pool(static_cast<uint32_t>(i));
    TraceEvent event;
    event.kind = TraceEvent::Kind::kMemory;
    event.device = memory.device();
    event.scope = memory.scope();
    event.bytes = memory.live_bytes();
    event.start_ns = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
    event.request_id = options.request_id;
    options.trace->record(event);
  }
}

// The severity of a submitted call's failure.
LogSeverity severity_of(StatusCode code) {
  if (code == StatusCode::kCancelled) return LogSeverity::kInfo;
  const bool is_defect = code == StatusCode::kDevice || code == StatusCode::kInternal;
  return is_defect ? LogSeverity::kError : LogSeverity::kWarning;
}

void log_failure(const Status& status, uint64_t request_id) {
  const LogSeverity severity = severity_of(status.code());
  if (!runtime::is_logged(severity)) return;
  (void)without_exceptions([&]() -> Status {
    runtime::log(severity, "a submitted call failed: " + std::string(status.message()), request_id);
    return {};
  });
}

// By pool of the module: the bytes that a run needs. Modules without bound functions need the
// formulas of memory_bound().
Result<std::vector<int64_t>> bound_of(const Request& request) {
  BoundSession& session = *request.session;
  const LoadedModule& module = session.module();
  std::vector<int64_t> bytes(session.pool_count(), 0);
  const Status fast = bound(module, request.dimensions, bytes, session.threads());
  if (fast.ok()) return bytes;
  if (fast.code() != StatusCode::kUnsupported) return fast;
  std::map<std::string, int64_t> dims;
  for (size_t i = 0; i < request.dimensions.size(); ++i)
    dims[module.signature().dimensions[i].name] = request.dimensions[i];
  SCOPEVM_ASSIGN_OR_RETURN(const MemoryBound slow, memory_bound(module, dims, session.threads()));
  for (uint32_t i = 0; i < bytes.size(); ++i)
    for (const ScopeBound& scope : slow.scopes)
      if (scope.device == session.pool(i).device() && scope.scope == session.pool(i).scope())
        bytes[i] = scope.bytes;
  return bytes;
}

// Subtracts the results that the run stores in buffers of the state. The scheduler holds the bytes
// of these buffers already.
void subtract_state_results(const Request& request, std::vector<int64_t>& bytes) {
  const LoadedFunction& entry = request.session->module().entry(request.dimensions);
  for (const ResultAllocation& result : entry.result_allocations) {
    const Tensor& buffer = request.outputs[result.output].tensor;
    if (!buffer.is_read_only()) continue;  // only a state has read-only buffers
    const uint32_t* const at = &entry.decl->code[result.alloc_word];
    bytes[isa::decode<isa::op::alloc_storage>(at).from.value] -= buffer.bytes();
  }
}

}  // namespace

Status Request::prepare(bool& is_attached) {
  clear_results();
  Status status;
  if (state != nullptr) {
    status = state->attach(*this);
    is_attached = status.ok();
  }
  if (status.ok()) {
    status = bind_inputs(session->module(), *this);
    if (is_attached && !status.ok())
      status = std::move(status).with_context("with the values of the state");
  }
  if (!status.ok()) stats = {};  // stats() must not return the statistics of the previous run
  return status;
}

Status Request::run_here(const CallOptions& options) {
  const Clock::time_point start = Clock::now();
  session->metrics().start();
  bool is_attached = false;
  Status status = without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(prepare(is_attached));
    Lease lease(*session, nullptr);
    (*lease).begin(*this);
    return run_leased(*lease, options, nullptr, start);
  });
  is_cancelled_.store(false, std::memory_order_relaxed);
  if (is_attached) state->detach(*this, status.ok());
  session->metrics().end(status.code());
  return status;
}

Status Request::run_leased(CallContext& context, const CallOptions& given, CallFiber* fiber,
                           Clock::time_point start) {
  RunOptions options{given, &is_cancelled_, fiber};
  if (options.trace != nullptr) options.request_id = request_id_of(given);
  Status status = without_exceptions([&] { return interpret(*session, context, options); });
  // Releases the storages of the call, also after a failure. Results have their own references to
  // their storages.
  on_thread_stack(fiber, [&] { context.end(); });
  const std::chrono::nanoseconds latency = Clock::now() - start;
  session->metrics().ran.add(latency);
  const Status filled = without_exceptions([&]() -> Status {
    fill_stats(*session, context, stats, latency.count());
    if (options.trace != nullptr) record_memory(*session, context, options);
    return {};
  });
  if (status.ok()) status = filled;
  if (!status.ok()) on_thread_stack(fiber, [&] { clear_results(); });
  return status;
}

Status Request::find_needs(const SubmitOptions& options) {
  needs_.clear();
  const LoadedModule& module = session->module();
  const size_t count = session->pool_count();
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> bytes, bound_of(*this));
  if (state != nullptr) subtract_state_results(*this, bytes);
  std::vector<int64_t> budgets(count, -1);
  for (const ScopeLimit& budget : options.data_budgets) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<bool> named, session->pools_of(budget.scope));
    if (budget.bytes < 0)
      return {StatusCode::kInvalidArgument,
              "the budget of memory scope \"" + budget.scope + "\" is " +
                  runtime::count_text(budget.bytes, "byte") + ", expected at least 0"};
    for (size_t i = 0; i < count; ++i)
      if (named[i]) budgets[i] = budget.bytes;
  }
  for (const format::MemoryDecl& line : module.entry(dimensions).decl->memory)
    if (line.depends_on_data && session->scheduled_pool(line.pool) && budgets[line.pool] < 0)
      return {StatusCode::kInvalidArgument,
              "the memory of the call in " + session->pool(line.pool).device() + "." +
                  session->pool(line.pool).scope() + " depends on data (\"" + line.what +
                  "\"): add a budget for \"" + session->pool(line.pool).scope() +
                  "\" to data_budgets"};
  for (uint32_t i = 0; i < count; ++i) {
    const std::optional<Need>& pool = session->scheduled_pool(i);
    if (!pool && budgets[i] < 0) continue;
    // For dims that a check rejects, a bound can be any number. The run will fail.
    const int64_t bounded = std::max<int64_t>(bytes[i], 0);
    budgets[i] =
        bounded + std::clamp<int64_t>(budgets[i], 0, std::numeric_limits<int64_t>::max() - bounded);
    if (!pool) continue;
    Need& need = needs_.emplace_back(*pool);
    need.bytes = budgets[i];
    if (state != nullptr) need.own = state->held_bytes(i);
  }
  budgets_ = std::move(budgets);
  return {};
}

Status Request::submit(const SubmitOptions& options, Done done) {
  const std::shared_ptr<BoundSession> counted = session;  // `done` can destroy this object
  counted->metrics().start();
  bool is_attached = false;
  Status submitted =
      without_exceptions([&] { return queue(options, std::move(done), is_attached); });
  if (submitted.ok()) return submitted;  // `done` can have destroyed this object
  if (is_attached) state->detach(*this, false);
  counted->metrics().end(submitted.code());
  return submitted;
}

Status Request::queue(const SubmitOptions& options, Done done, bool& is_attached) {
  if (session->scheduler() == nullptr)
    return {StatusCode::kInvalidArgument,
            "the session has no scheduler: set SessionOptions::scheduler"};
  if (options.priority < -kMaxPriority || options.priority > kMaxPriority)
    return {StatusCode::kInvalidArgument, "priority " + std::to_string(options.priority) +
                                              ", expected -" + std::to_string(kMaxPriority) +
                                              " to " + std::to_string(kMaxPriority)};
  SCOPEVM_RETURN_IF_ERROR(prepare(is_attached));
  stats = {};
  SCOPEVM_RETURN_IF_ERROR(find_needs(options));
  options_ = options.call;
  options_.request_id = request_id_of(options.call);
  submitted_ = Clock::now();
  admitted_.reset();
  done_ = std::move(done);
  is_in_flight_.store(true, std::memory_order_relaxed);
  // The request can end, and `done` can destroy the call, before submit() of the scheduler returns.
  const std::shared_ptr<Request> self = shared_from_this();
  Status queued = without_exceptions([&] {
    return session->scheduler()->submit(self, options.priority, options.call.deadline,
                                        options.can_run_here);
  });
  if (queued.ok()) return queued;
  done_ = {};
  is_in_flight_.store(false, std::memory_order_relaxed);
  return queued;
}

void Request::hold_results() {
  const auto hold = [&](const Tensor& result) {
    runtime::Storage* storage = TensorAccess::storage(result);
    if (storage == nullptr || storage->pool < 0 || storage->is_held) return;
    const std::optional<Need>& pool = session->scheduled_pool(static_cast<uint32_t>(storage->pool));
    if (!pool) return;
    storage->is_held = true;
    std::ranges::find(needs_, pool->pool, &Need::pool)->held += storage->bytes;
  };
  for (const Tensor& result : results) hold(result);
  for (const ListValue& list : list_results)
    for (const Tensor& element : list.elements) hold(element);
}

// Only work of devices, other ranks and emulated delays are waited for. Trace sinks and hooks are
// functions of the program that depend on the thread.
bool Request::can_wait() const {
  return session->can_wait() && options_.trace == nullptr && options_.hook == nullptr;
}

Status Request::end_waits(Clock::time_point now, StatusCode status) {
  CallMetrics& metrics = session->metrics();
  metrics.waited_for_memory.add(admitted_.value_or(now) - submitted_);
  if (admitted_) metrics.waited_for_worker.add(now - *admitted_);
  return record_waits(options_, submitted_, admitted_, now, status);
}

void Request::run(CallFiber* fiber) {
  const Clock::time_point start = Clock::now();
  Status status = without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(end_waits(start, StatusCode::kOk));
    Lease lease(*session, fiber);
    CallContext& context = *lease;
    context.begin(*this);
    for (size_t i = 0; i < budgets_.size(); ++i)
      context.set_budget(static_cast<uint32_t>(i), budgets_[i]);
    return run_leased(context, options_, fiber, start);
  });
  if (status.ok()) hold_results();
  session->scheduler()->end(needs_);
  on_thread_stack(fiber, [&] { finish(status); });
}

void Request::refuse(const Status& status) {
  (void)end_waits(Clock::now(), status.code());
  finish(status);
}

void Request::finish(const Status& status) {
  session->metrics().end(status.code());
  if (!status.ok() && !is_waited_for) log_failure(status, options_.request_id);
  const Done done = std::exchange(done_, {});
  if (state != nullptr) state->detach(*this, status.ok());
  is_cancelled_.store(false, std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    outcome_ = status;
    if (done) ++running_done_;
    is_in_flight_.store(false, std::memory_order_release);
  }
  idle_.notify_all();
  if (!done) return;
  // `done` can use or destroy the call. The scheduler keeps this object alive.
  const RunningDone running{this, innermost_done};
  innermost_done = &running;
  done(status);
  innermost_done = running.outer;
  {
    std::lock_guard lock(mutex_);
    --running_done_;
  }
  idle_.notify_all();
}

Status Request::check_may_wait() const {
  if (session->scheduler() == nullptr || !session->scheduler()->is_own_thread()) return {};
  return {StatusCode::kInvalidArgument,
          "a worker of the scheduler must not wait for a call: submit it with a function"};
}

std::optional<Status> Request::wait(std::optional<Clock::time_point> until) {
  std::unique_lock lock(mutex_);
  const auto is_idle = [&] {
    return !is_in_flight() && (running_done_ == 0 || is_in_done_of(*this));
  };
  if (!until)
    idle_.wait(lock, is_idle);
  else if (!idle_.wait_until(lock, *until, is_idle))
    return std::nullopt;
  return outcome_;
}

void Request::cancel() {
  is_cancelled_.store(true, std::memory_order_relaxed);
  if (session->scheduler() != nullptr && is_in_flight()) session->scheduler()->cancel(this);
}

}  // namespace scopevm::vm

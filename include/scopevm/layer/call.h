// The functions of Call (scopevm/call.h), by those of scopevm/c/call.h. Those of states are in
// layer/state.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/c/state.h"
#include "scopevm/call.h"
#include "scopevm/execution_hook.h"
#include "scopevm/layer/execution.h"
#include "scopevm/layer/status.h"
#include "scopevm/layer/text_argument.h"

namespace scopevm {

namespace layer {

// The function of the C API for a TraceSink, which is the context.
inline scopevm_status* record(void* context, const scopevm_trace_event* c) noexcept {
  return give(guarded([&]() -> Status {
    std::vector<TraceDim> dims;
    for (size_t i = 0; i < c->dim_count; ++i) dims.push_back({c->dims[i].name, c->dims[i].value});
    TraceEvent event;
    event.kind = static_cast<TraceEvent::Kind>(c->kind);
    event.lane = static_cast<TraceEvent::Lane>(c->lane);
    event.worker = c->worker;
    event.name = c->name;
    event.kernel = c->kernel;
    event.device = c->device;
    event.from_device = c->from_device;
    event.from_scope = c->from_scope;
    event.to_device = c->to_device;
    event.to_scope = c->to_scope;
    event.bytes = c->bytes;
    event.start_ns = c->start_ns;
    event.duration_ns = c->duration_ns;
    event.scope = c->scope;
    event.request_id = c->request_id;
    event.status = static_cast<StatusCode>(c->status);
    event.dims = dims;
    static_cast<TraceSink*>(context)->record(event);
    return {};
  }));
}

inline bool is_default(const CallOptions& options) {
  return !options.deadline && options.cancel == nullptr && options.trace == nullptr &&
         options.hook == nullptr && options.request_id == 0;
}

inline scopevm_run_options to_c(const CallOptions& options) {
  static_assert(sizeof(std::atomic<bool>) == 1);
  scopevm_run_options c{};
  c.struct_size = sizeof c;
  if (options.deadline) {
    const std::chrono::nanoseconds time = options.deadline->time_since_epoch();
    c.deadline_ns = time.count() == 0 ? -1 : time.count();  // 0: none
  }
  c.cancel = reinterpret_cast<const unsigned char*>(options.cancel);
  if (options.trace != nullptr) {
    c.trace = record;
    c.trace_context = options.trace;
  }
  if (options.hook != nullptr) {
    c.hook = call_hook;
    c.hook_context = options.hook;
  }
  c.request_id = options.request_id;
  return c;
}

// The function of the C API for the end of a submitted call. The context is the function `done`,
// which this destroys.
inline void call_done(void* context, const scopevm_status* result) noexcept {
  using Done = std::function<void(const Status&)>;
  const std::unique_ptr<Done> done(static_cast<Done*>(context));
  (*done)(result == nullptr ? Status() : copy(result));
}

inline Status read_stats(const scopevm_call* call, CallStats& out) {
  scopevm_call_stats stats{};
  stats.struct_size = sizeof stats;
  SCOPEVM_RETURN_IF_ERROR(take(scopevm_call_read_stats(call, &stats)));
  out.latency_ns = stats.latency_ns;
  out.function = stats.function;
  out.emulated_seconds = stats.emulated_seconds;
  for (size_t i = 0; i < stats.memory_count; ++i) {
    scopevm_memory_use use{};
    use.struct_size = sizeof use;
    SCOPEVM_RETURN_IF_ERROR(take(scopevm_call_memory_use(call, i, &use)));
    out.memory.push_back({use.device, use.scope, use.bound_bytes, use.lower_bound_bytes,
                          use.peak_bytes, use.allocations});
  }
  for (size_t i = 0; i < stats.copy_count; ++i) {
    scopevm_copy_use use{};
    use.struct_size = sizeof use;
    SCOPEVM_RETURN_IF_ERROR(take(scopevm_call_copy_use(call, i, &use)));
    out.copies.push_back(
        {use.from_device, use.from_scope, use.to_device, use.to_scope, use.copies, use.bytes});
  }
  return {};
}

}  // namespace layer

inline Call::Call(Call&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), stats_(std::move(other.stats_)) {}

inline Call& Call::operator=(Call&& other) noexcept {
  // The destructor of `other` ends and releases the old call.
  std::swap(handle_, other.handle_);
  std::swap(stats_, other.stats_);
  return *this;
}

inline Call::~Call() { scopevm_call_free(handle_); }

inline Result<size_t> Call::find_input(std::string_view name) const {
  return layer::guarded([&]() -> Result<size_t> {
    size_t index = 0;
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_call_find_input(handle_, layer::TextArgument(name).c_str(), &index)));
    return index;
  });
}

inline Result<size_t> Call::find_output(std::string_view name) const {
  return layer::guarded([&]() -> Result<size_t> {
    size_t index = 0;
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_call_find_output(handle_, layer::TextArgument(name).c_str(), &index)));
    return index;
  });
}

inline Status Call::set_input(size_t index, const Tensor& tensor) {
  return layer::take(scopevm_call_share_input(handle_, index, tensor.c_tensor()));
}

inline Status Call::set_input(std::string_view name, const Tensor& tensor) {
  SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
  return set_input(index, tensor);
}

inline Status Call::set_sequence(size_t index, std::vector<Tensor> elements) {
  const scopevm_tensor* const tensors = elements.empty() ? nullptr : elements[0].c_tensor();
  return layer::take(scopevm_call_share_sequence(handle_, index, tensors, elements.size()));
}

inline Status Call::set_sequence(std::string_view name, std::vector<Tensor> elements) {
  SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
  return set_sequence(index, std::move(elements));
}

inline Status Call::set_no_value(size_t index) {
  return layer::take(scopevm_call_set_no_value_at(handle_, index));
}

inline Status Call::set_no_value(std::string_view name) {
  SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
  return set_no_value(index);
}

inline Status Call::set_output(size_t index, const Tensor& tensor) {
  return layer::take(scopevm_call_share_output(handle_, index, tensor.c_tensor()));
}

inline Status Call::set_output(std::string_view name, const Tensor& tensor) {
  SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_output(name));
  return set_output(index, tensor);
}

inline Status Call::set_output_buffer(size_t index, void* data, int64_t capacity) {
  return layer::take(scopevm_call_set_output_buffer(handle_, index, data, capacity));
}

inline Status Call::unset_state() { return layer::take(scopevm_call_set_state(handle_, nullptr)); }

inline Status Call::run(const CallOptions& options) {
  if (layer::is_default(options)) return layer::take(scopevm_call_run(handle_, nullptr));
  const scopevm_run_options c = layer::to_c(options);
  return layer::take(scopevm_call_run(handle_, &c));
}

inline Status Call::submit(const SubmitOptions& options, std::function<void(const Status&)> done) {
  using Done = std::function<void(const Status&)>;
  return layer::guarded([&]() -> Status {
    const scopevm_run_options run = layer::to_c(options.call);
    std::vector<scopevm_memory_limit> budgets;
    for (const ScopeLimit& budget : options.data_budgets)
      budgets.push_back({budget.scope.c_str(), budget.bytes});
    scopevm_submit_options c{};
    c.struct_size = sizeof c;
    c.run = &run;
    c.priority = options.priority;
    c.data_budgets = budgets.data();
    c.data_budget_count = budgets.size();
    c.data_budget_size = sizeof(scopevm_memory_limit);
    c.can_run_here = options.can_run_here ? 1 : 0;
    if (!done) return layer::take(scopevm_call_submit(handle_, &c, nullptr, nullptr));
    auto context = std::make_unique<Done>(std::move(done));
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_call_submit(handle_, &c, layer::call_done, context.get())));
    (void)context.release();
    return {};
  });
}

inline Status Call::wait() const { return layer::take(scopevm_call_wait(handle_, -1)); }

inline Status Call::wait_for(std::chrono::nanoseconds timeout) const {
  const int64_t ns = timeout.count();
  return layer::take(scopevm_call_wait(handle_, ns < 0 ? 0 : ns));
}

inline bool Call::is_in_flight() const { return scopevm_call_is_in_flight(handle_) != 0; }

inline void Call::cancel() { scopevm_call_cancel(handle_); }

inline std::span<const Tensor> Call::outputs() const {
  size_t count = 0;
  const scopevm_tensor* const results = scopevm_call_results(handle_, &count);
  return {reinterpret_cast<const Tensor*>(results), count};
}

inline Result<Tensor> Call::output(std::string_view name) const {
  return layer::guarded([&]() -> Result<Tensor> {
    scopevm_tensor tensor{};
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_call_find_result(handle_, layer::TextArgument(name).c_str(), &tensor)));
    return Tensor::take(tensor);
  });
}

inline Result<bool> Call::has_value(size_t output) const {
  size_t size = 0;
  int has_value = 0;
  SCOPEVM_RETURN_IF_ERROR(
      layer::take(scopevm_call_output_size(handle_, output, &size, &has_value)));
  return has_value != 0;
}

inline Result<std::span<const Tensor>> Call::elements(size_t output) const {
  const scopevm_tensor* elements = nullptr;
  size_t count = 0;
  SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_call_elements(handle_, output, &elements, &count)));
  return std::span<const Tensor>(reinterpret_cast<const Tensor*>(elements), count);
}

inline Result<std::span<const Tensor>> Call::elements(std::string_view name) const {
  SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_output(name));
  return elements(index);
}

inline void Call::clear_outputs() { scopevm_call_clear_outputs(handle_); }

inline const CallStats& Call::stats() const {
  static const CallStats none;
  const Status status = layer::guarded([&]() -> Status {
    if (stats_ == nullptr) stats_ = std::make_unique<CallStats>();
    stats_->memory.clear();
    stats_->copies.clear();
    return layer::read_stats(handle_, *stats_);
  });
  return status.ok() ? *stats_ : none;
}

}  // namespace scopevm

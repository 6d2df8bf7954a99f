// Implements Session and Call (scopevm/session.h) with BoundSession and Request.
#include "scopevm/session.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/log.h"
#include "runtime/nearest_name.h"
#include "runtime/without_exceptions.h"
#include "vm/api/module_access.h"
#include "vm/run/bound/bound.h"
#include "vm/run/bound/request_check.h"
#include "vm/run/call/bind.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/request.h"

namespace scopevm {
namespace {

using runtime::without_exceptions;

Status bad_index(std::string_view kind, size_t index, size_t count) {
  return {StatusCode::kNotFound, "no " + std::string(kind) + " " + std::to_string(index) +
                                     ": the module has " + runtime::count_text(count, kind)};
}

Result<size_t> find_input(const vm::Request& request, std::string_view name) {
  return runtime::find_name("input", name, request.session->module().input_names());
}

Result<size_t> find_output(const vm::Request& request, std::string_view name) {
  return runtime::find_name("output", name, request.session->module().output_names());
}

// Sets an input to a tensor, or to no tensor if `tensor` is empty.
Status set_tensor(vm::Request& request, size_t index, Tensor tensor) {
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  if (index >= request.inputs.size()) return bad_index("input", index, request.inputs.size());
  const vm::LoadedModule& module = request.session->module();
  const ValueKind kind = module.signature().inputs[index].kind;
  if (tensor.is_empty()) {
    request.inputs[index] = Tensor();
    request.list_inputs[index] = {};
    return {};
  }
  SCOPEVM_RETURN_IF_ERROR(vm::check_input(module, index, tensor));
  if (kind == ValueKind::kTensor)
    request.inputs[index] = std::move(tensor);
  else if (kind == ValueKind::kOptional)
    request.list_inputs[index] = {true, true, {std::move(tensor)}};
  else
    return {StatusCode::kInvalidArgument,
            "input \"" + module.input_names()[index] + "\": expected a sequence, given a tensor"};
  return {};
}

Status set_list(vm::Request& request, size_t index, vm::ListValue value) {
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  if (index >= request.inputs.size()) return bad_index("input", index, request.inputs.size());
  SCOPEVM_RETURN_IF_ERROR(vm::check_list(request.session->module(), index, value));
  request.list_inputs[index] = std::move(value);
  return {};
}

// Sets the caller's buffer for an output, or no buffer if its tensor is empty.
Status set_buffer(vm::Request& request, size_t index, vm::OutputBuffer buffer) {
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  const Tensor& tensor = buffer.tensor;
  if (index >= request.outputs.size()) return bad_index("output", index, request.outputs.size());
  const TensorSignature& signature = request.session->module().signature().outputs[index];
  // The size of strings is known only after the run.
  if (!tensor.is_empty() && signature.dtype == DType::kStr)
    return {StatusCode::kInvalidArgument,
            "output \"" + signature.name +
                "\": a buffer cannot hold strings; read the result after each run"};
  if (tensor.is_read_only())
    return {StatusCode::kInvalidArgument,
            "output \"" + signature.name + "\": the buffer is read-only"};
  if (signature.kind != ValueKind::kTensor && !tensor.is_empty())
    return {StatusCode::kInvalidArgument,
            "output \"" + signature.name + "\": " + (is_optional(signature.kind) ? "an " : "a ") +
                std::string(name(signature.kind)) +
                " cannot be stored in a buffer; read its elements after each run"};
  if (!tensor.is_empty() && buffer.has_dims)
    SCOPEVM_RETURN_IF_ERROR(vm::check_buffer(signature, tensor));
  request.set_output(index, std::move(buffer));
  return {};
}

// A buffer of `capacity` bytes for a result of any dims.
Result<vm::OutputBuffer> buffer_of(const vm::Request& request, size_t index, void* data,
                                   int64_t capacity) {
  if (data == nullptr) return vm::OutputBuffer();
  const std::vector<TensorSignature>& outputs = request.session->module().signature().outputs;
  if (index >= outputs.size()) return bad_index("output", index, outputs.size());
  if (capacity < 0)
    return Status(StatusCode::kInvalidArgument,
                  "output \"" + outputs[index].name + "\": the capacity is " +
                      runtime::count_text(capacity, "byte") + ", expected at least 0");
  // set_buffer() refuses buffers for strings.
  const DType dtype = outputs[index].dtype == DType::kStr ? DType::kU8 : outputs[index].dtype;
  const int64_t count = capacity / byte_size(dtype);
  Result<Tensor> tensor = Tensor::borrow(data, dtype, std::span(&count, 1));
  if (!tensor.ok())
    return std::move(tensor).status().with_context("output \"" + outputs[index].name + "\"");
  return vm::OutputBuffer{*std::move(tensor), false};
}

Status check_result(const vm::Request& request, size_t output) {
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  if (output < request.results.size()) return {};
  return {StatusCode::kNotFound, "no result " + std::to_string(output) + ": the call has " +
                                     runtime::count_text(request.results.size(), "result")};
}

Result<std::span<const Tensor>> elements_of(const vm::Request& request, size_t output) {
  SCOPEVM_RETURN_IF_ERROR(check_result(request, output));
  const vm::ListValue& list = request.list_results[output];
  if (list.is_set) return std::span<const Tensor>(list.elements);
  return std::span<const Tensor>(&request.results[output], 1);
}

Status run(vm::Request& request, const CallOptions& options) {
  if (request.session->scheduler() == nullptr) return request.run_here(options);
  SCOPEVM_RETURN_IF_ERROR(request.check_may_wait());
  SCOPEVM_RETURN_IF_ERROR(request.submit({.call = options}, {}));
  return *request.wait(std::nullopt);
}

Result<std::vector<Tensor>> call_once(const std::shared_ptr<vm::BoundSession>& session,
                                      std::span<const Tensor> inputs, const CallOptions& options) {
  const auto owned = std::make_shared<vm::Request>(session);
  vm::Request& request = *owned;
  if (inputs.size() > request.inputs.size())
    return Status(StatusCode::kInvalidArgument,
                  "expected at most " + runtime::count_text(request.inputs.size(), "input") +
                      ", given " + std::to_string(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].is_empty()) SCOPEVM_RETURN_IF_ERROR(set_tensor(request, i, inputs[i]));
  SCOPEVM_RETURN_IF_ERROR(run(request, options));
  return std::move(request.results);
}

Status set_zeros(const vm::LoadedModule& module, const std::map<std::string, int64_t>& dims,
                 Call& call) {
  SCOPEVM_RETURN_IF_ERROR(vm::check_request(module.signature(), dims, 1));
  const std::vector<TensorSignature>& inputs = module.signature().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind == ValueKind::kSequence) {
      SCOPEVM_RETURN_IF_ERROR(call.set_sequence(i, {}));
    } else if (inputs[i].kind != ValueKind::kTensor) {
      SCOPEVM_RETURN_IF_ERROR(call.set_no_value(i));
    } else {
      SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, input_shape(module, i, dims));
      SCOPEVM_ASSIGN_OR_RETURN(Tensor zeros, Tensor::allocate(inputs[i].dtype, shape));
      if (zeros.dtype() != DType::kStr)
        std::memset(zeros.data(), 0, static_cast<size_t>(zeros.bytes()));
      SCOPEVM_RETURN_IF_ERROR(call.set_input(i, std::move(zeros)));
    }
  }
  return {};
}

// A session that takes longer to create has, for example, built kernels for a device.
constexpr std::chrono::milliseconds kSlowStart{500};

void log_slow_start(std::chrono::nanoseconds duration) {
  if (duration < kSlowStart || !runtime::is_logged(LogSeverity::kInfo)) return;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
  runtime::log(LogSeverity::kInfo, "the session started in " + std::to_string(ms.count()) + " ms");
}

}  // namespace

TraceSink::~TraceSink() = default;

Call::Call(std::shared_ptr<vm::Request> request) : request_(std::move(request)) {}
Call::Call(Call&&) noexcept = default;

Call& Call::operator=(Call&& other) noexcept {
  // The destructor of `other` ends and releases the old request.
  std::swap(request_, other.request_);
  return *this;
}

Call::~Call() {
  if (request_ == nullptr || request_->session->scheduler() == nullptr) return;
  if (request_->is_in_flight()) request_->cancel();
  (void)request_->wait(std::nullopt);
}

Result<size_t> Call::find_input(std::string_view name) const {
  return without_exceptions([&] { return scopevm::find_input(*request_, name); });
}

Result<size_t> Call::find_output(std::string_view name) const {
  return without_exceptions([&] { return scopevm::find_output(*request_, name); });
}

Status Call::set_input(size_t index, Tensor tensor) {
  return without_exceptions([&] { return set_tensor(*request_, index, std::move(tensor)); });
}

Status Call::set_input(std::string_view name, Tensor tensor) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
    return set_tensor(*request_, index, std::move(tensor));
  });
}

Status Call::set_sequence(size_t index, std::vector<Tensor> elements) {
  return without_exceptions(
      [&] { return set_list(*request_, index, {true, true, std::move(elements)}); });
}

Status Call::set_sequence(std::string_view name, std::vector<Tensor> elements) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
    return set_list(*request_, index, {true, true, std::move(elements)});
  });
}

Status Call::set_no_value(size_t index) {
  return without_exceptions([&] { return set_list(*request_, index, {true, false, {}}); });
}

Status Call::set_no_value(std::string_view name) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
    return set_list(*request_, index, {true, false, {}});
  });
}

Status Call::set_output(size_t index, Tensor tensor) {
  return without_exceptions(
      [&] { return set_buffer(*request_, index, {std::move(tensor), true}); });
}

Status Call::set_output(std::string_view name, Tensor tensor) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_output(name));
    return set_buffer(*request_, index, {std::move(tensor), true});
  });
}

Status Call::set_output_buffer(size_t index, void* data, int64_t capacity) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(vm::OutputBuffer buffer, buffer_of(*request_, index, data, capacity));
    return set_buffer(*request_, index, std::move(buffer));
  });
}

Status Call::run(const CallOptions& options) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(request_->check_idle());
    return scopevm::run(*request_, options);
  });
}

Status Call::submit(const SubmitOptions& options, std::function<void(const Status&)> done) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(request_->check_idle());
    return request_->submit(options, std::move(done));
  });
}

Status Call::wait() const {
  return without_exceptions([&]() -> Status {
    if (request_->is_in_flight()) SCOPEVM_RETURN_IF_ERROR(request_->check_may_wait());
    return *request_->wait(std::nullopt);
  });
}

Status Call::wait_for(std::chrono::nanoseconds timeout) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  // A time beyond the range of the clock never passes.
  if (timeout >= Clock::time_point::max() - now) return wait();
  return without_exceptions([&]() -> Status {
    if (request_->is_in_flight()) SCOPEVM_RETURN_IF_ERROR(request_->check_may_wait());
    if (std::optional<Status> outcome = request_->wait(now + timeout)) return *std::move(outcome);
    return {StatusCode::kDeadlineExceeded, "the call is still in flight"};
  });
}

bool Call::is_in_flight() const { return request_->is_in_flight(); }

void Call::cancel() { request_->cancel(); }

std::span<const Tensor> Call::outputs() const {
  if (is_in_flight()) return {};
  return request_->results;
}

Result<Tensor> Call::output(std::string_view name) const {
  return without_exceptions([&]() -> Result<Tensor> {
    SCOPEVM_RETURN_IF_ERROR(request_->check_idle());
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_output(name));
    if (index >= request_->results.size())
      return Status(StatusCode::kNotFound, "the call has no results: it has not run, or failed");
    return request_->results[index];
  });
}

Result<bool> Call::has_value(size_t output) const {
  return without_exceptions([&]() -> Result<bool> {
    SCOPEVM_RETURN_IF_ERROR(check_result(*request_, output));
    const vm::ListValue& list = request_->list_results[output];
    return !list.is_set || list.has_value;
  });
}

Result<std::span<const Tensor>> Call::elements(size_t output) const {
  return without_exceptions([&] { return elements_of(*request_, output); });
}

Result<std::span<const Tensor>> Call::elements(std::string_view name) const {
  return without_exceptions([&]() -> Result<std::span<const Tensor>> {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_output(name));
    return elements_of(*request_, index);
  });
}

void Call::clear_outputs() {
  if (!is_in_flight()) request_->clear_results();
}

const CallStats& Call::stats() const {
  static const CallStats none;
  return is_in_flight() ? none : request_->stats;
}

Session::Session(std::shared_ptr<vm::BoundSession> bound) : bound_(std::move(bound)) {}

Result<Session> Session::create(const Module& module, SessionOptions options) {
  return without_exceptions([&]() -> Result<Session> {
    const auto start = std::chrono::steady_clock::now();
    SCOPEVM_ASSIGN_OR_RETURN(
        std::shared_ptr<vm::BoundSession> bound,
        vm::BoundSession::create(ModuleAccess::loaded(module), std::move(options)));
    log_slow_start(std::chrono::steady_clock::now() - start);
    return Session(std::move(bound));
  });
}

Result<std::vector<Tensor>> Session::call(std::span<const Tensor> inputs,
                                          const CallOptions& options) const {
  return without_exceptions([&] { return call_once(bound_, inputs, options); });
}

Result<Call> Session::make_call() const {
  return without_exceptions(
      [&]() -> Result<Call> { return Call(std::make_shared<vm::Request>(bound_)); });
}

Status Session::reserve(const std::map<std::string, DimRange>& dims, int calls) const {
  return without_exceptions([&] { return bound_->reserve(dims, calls); });
}

Status Session::warm_up(const std::map<std::string, int64_t>& dims,
                        const CallOptions& options) const {
  return without_exceptions([&]() -> Status {
    Executor& executor = bound_->executor();
    executor.parallel_for(executor.threads(), 1, [](void*, int64_t, int64_t, int64_t) {}, nullptr);
    SCOPEVM_ASSIGN_OR_RETURN(Call call, make_call());
    SCOPEVM_RETURN_IF_ERROR(set_zeros(bound_->module(), dims, call));
    return call.run(options);
  });
}

const Signature& Session::signature() const { return bound_->module().signature(); }

int Session::threads() const { return bound_->threads(); }

int Session::running_threads() const { return bound_->executor().running_threads(); }

Result<std::vector<ScopeStats>> Session::memory_stats() const {
  return without_exceptions([&]() -> Result<std::vector<ScopeStats>> {
    std::vector<ScopeStats> stats;
    for (size_t i = 0; i < bound_->pool_count(); ++i) {
      const runtime::ScopeMemory& memory = bound_->pool(static_cast<uint32_t>(i));
      stats.push_back({memory.device(), memory.scope(), memory.stats()});
    }
    return stats;
  });
}

void Session::trim() const { bound_->trim(); }

}  // namespace scopevm

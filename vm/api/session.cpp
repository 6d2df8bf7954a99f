// Implements Session and Call (scopevm/session.h) with BoundSession and CallContext.
#include "scopevm/session.h"

#include <algorithm>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/nearest_name.h"
#include "runtime/without_exceptions.h"
#include "vm/api/module_access.h"
#include "vm/run/call/bind.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/call_context.h"
#include "vm/run/interpreter/interpreter.h"

namespace scopevm {
namespace {

using runtime::without_exceptions;

Result<size_t> find_name(std::string_view kind, std::string_view name,
                         const std::vector<std::string>& known) {
  const auto found = std::ranges::find(known, name);
  if (found != known.end()) return static_cast<size_t>(found - known.begin());
  return Status(StatusCode::kNotFound, "the module has no " + std::string(kind) + " \"" +
                                           std::string(name) + "\"" +
                                           runtime::name_suggestion(name, known));
}

Status bad_index(std::string_view kind, size_t index, size_t count) {
  return {StatusCode::kNotFound, "no " + std::string(kind) + " " + std::to_string(index) +
                                     ": the module has " + runtime::count_text(count, kind)};
}

Result<size_t> find_input(const vm::CallContext& context, std::string_view name) {
  return find_name("input", name, context.session->module().input_names());
}

Result<size_t> find_output(const vm::CallContext& context, std::string_view name) {
  return find_name("output", name, context.session->module().output_names());
}

// Sets an input to a tensor, or to no tensor if `tensor` is empty.
Status set_tensor(vm::CallContext& context, size_t index, Tensor tensor) {
  if (index >= context.inputs.size()) return bad_index("input", index, context.inputs.size());
  const vm::LoadedModule& module = context.session->module();
  const ValueKind kind = module.signature().inputs[index].kind;
  if (tensor.is_empty()) {
    context.inputs[index] = Tensor();
    context.list_inputs[index] = {};
    return {};
  }
  SCOPEVM_RETURN_IF_ERROR(vm::check_input(module, index, tensor));
  if (kind == ValueKind::kTensor)
    context.inputs[index] = std::move(tensor);
  else if (kind == ValueKind::kOptional)
    context.list_inputs[index] = {true, true, {std::move(tensor)}};
  else
    return {StatusCode::kInvalidArgument,
            "input \"" + module.input_names()[index] + "\": expected a sequence, given a tensor"};
  return {};
}

Status set_list(vm::CallContext& context, size_t index, vm::ListValue value) {
  if (index >= context.inputs.size()) return bad_index("input", index, context.inputs.size());
  SCOPEVM_RETURN_IF_ERROR(vm::check_list(context.session->module(), index, value));
  context.list_inputs[index] = std::move(value);
  return {};
}

// Sets the caller's buffer for an output, or no buffer if its tensor is empty.
Status set_buffer(vm::CallContext& context, size_t index, vm::OutputBuffer buffer) {
  const Tensor& tensor = buffer.tensor;
  if (index >= context.outputs.size()) return bad_index("output", index, context.outputs.size());
  const TensorSignature& signature = context.session->module().signature().outputs[index];
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
  context.set_output(index, std::move(buffer));
  return {};
}

// A buffer of `capacity` bytes for a result of any dims.
Result<vm::OutputBuffer> buffer_of(const vm::CallContext& context, size_t index, void* data,
                                   int64_t capacity) {
  if (data == nullptr) return vm::OutputBuffer();
  const std::vector<TensorSignature>& outputs = context.session->module().signature().outputs;
  if (index >= outputs.size()) return bad_index("output", index, outputs.size());
  if (capacity < 0)
    return Status(StatusCode::kInvalidArgument, "output \"" + outputs[index].name +
                                                    "\": the capacity is " +
                                                    runtime::count_text(capacity, "byte") +
                                                    ", expected at least 0");
  // set_buffer() refuses buffers for strings.
  const DType dtype = outputs[index].dtype == DType::kStr ? DType::kU8 : outputs[index].dtype;
  const int64_t count = capacity / byte_size(dtype);
  Result<Tensor> tensor = Tensor::borrow(data, dtype, std::span(&count, 1));
  if (!tensor.ok())
    return std::move(tensor).status().with_context("output \"" + outputs[index].name + "\"");
  return vm::OutputBuffer{*std::move(tensor), false};
}

Status check_result(const vm::CallContext& context, size_t output) {
  if (output < context.results.size()) return {};
  return {StatusCode::kNotFound, "no result " + std::to_string(output) + ": the call has " +
                                     runtime::count_text(context.results.size(), "result")};
}

Result<std::span<const Tensor>> elements_of(const vm::CallContext& context, size_t output) {
  SCOPEVM_RETURN_IF_ERROR(check_result(context, output));
  const vm::ListValue& list = context.list_results[output];
  if (list.is_set) return std::span<const Tensor>(list.elements);
  return std::span<const Tensor>(&context.results[output], 1);
}

void fill_stats(vm::BoundSession& session, vm::CallContext& context, int64_t latency_ns) {
  const std::vector<vm::PoolAccount>& pools = context.pools();
  context.stats.latency_ns = latency_ns;
  context.stats.function = context.entry->decl->name;
  context.stats.memory.resize(pools.size());
  for (size_t i = 0; i < pools.size(); ++i) {
    const runtime::ScopeMemory& memory = session.pool(static_cast<uint32_t>(i));
    context.stats.memory[i] = {memory.device(),      memory.scope(),
                               pools[i].bound_bytes, pools[i].lower_bound_bytes,
                               pools[i].peak_bytes,  pools[i].allocations};
  }
  context.stats.emulated_seconds = context.emulated_seconds;
  context.stats.copies.clear();
  for (const vm::CopyAccount& copy : context.copies()) {
    const runtime::ScopeMemory &from = session.pool(copy.from_pool),
                               &to = session.pool(copy.to_pool);
    context.stats.copies.push_back(
        {from.device(), from.scope(), to.device(), to.scope(), copy.copies, copy.bytes});
  }
}

// REQUIRES: check_input() succeeded for every set input.
Status run(vm::CallContext& context, const CallOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  vm::BoundSession& session = *context.session;
  context.begin();
  if (Status bound = vm::bind_inputs(session.module(), context); !bound.ok()) {
    context.end();
    context.stats = {};  // stats() must not return the statistics of the previous run
    return bound;
  }
  Status status = without_exceptions([&] { return vm::interpret(session, context, options); });
  // Releases the storages of the call, also after a failure. Results have their own references to
  // their storages.
  context.end();
  const auto end = std::chrono::steady_clock::now();
  const Status filled = without_exceptions([&]() -> Status {
    fill_stats(session, context,
               std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
    return {};
  });
  if (status.ok()) status = filled;
  if (!status.ok()) {
    context.results.clear();
    context.clear_list_results();
  }
  return status;
}

// RAII: takes a call context from the session and returns it on destruction.
class Lease {
 public:
  explicit Lease(std::shared_ptr<vm::BoundSession> session) : context_(session->take_context()) {
    context_->session = std::move(session);
  }
  ~Lease() {
    // The session owns its spare contexts. A spare context must not reference the session, because
    // the cycle would keep both alive.
    const std::shared_ptr<vm::BoundSession> session = std::move(context_->session);
    session->return_context(std::move(context_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  vm::CallContext& operator*() { return *context_; }

 private:
  std::unique_ptr<vm::CallContext> context_;
};

Result<std::vector<Tensor>> call_once(const std::shared_ptr<vm::BoundSession>& session,
                                      std::span<const Tensor> inputs, const CallOptions& options) {
  Lease lease(session);
  vm::CallContext& context = *lease;
  if (inputs.size() > context.inputs.size())
    return Status(StatusCode::kInvalidArgument,
                  "expected at most " + runtime::count_text(context.inputs.size(), "input") +
                      ", given " + std::to_string(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is_empty()) continue;
    SCOPEVM_RETURN_IF_ERROR(vm::check_input(session->module(), i, inputs[i]));
    if (session->module().signature().inputs[i].kind == ValueKind::kOptional)
      context.list_inputs[i] = {true, true, {inputs[i]}};
    else
      context.inputs[i] = inputs[i];
  }
  SCOPEVM_RETURN_IF_ERROR(run(context, options));
  return std::move(context.results);
}

}  // namespace

TraceSink::~TraceSink() = default;

Call::Call(std::unique_ptr<vm::CallContext> context) : context_(std::move(context)) {}
Call::Call(Call&&) noexcept = default;

Call& Call::operator=(Call&& other) noexcept {
  // The destructor of `other` returns the old context to its session.
  std::swap(context_, other.context_);
  return *this;
}

Call::~Call() {
  if (context_ == nullptr) return;
  const std::shared_ptr<vm::BoundSession> session = std::move(context_->session);
  session->return_context(std::move(context_));
}

Result<size_t> Call::find_input(std::string_view name) const {
  return without_exceptions([&] { return scopevm::find_input(*context_, name); });
}

Result<size_t> Call::find_output(std::string_view name) const {
  return without_exceptions([&] { return scopevm::find_output(*context_, name); });
}

Status Call::set_input(size_t index, Tensor tensor) {
  return without_exceptions([&] { return set_tensor(*context_, index, std::move(tensor)); });
}

Status Call::set_input(std::string_view name, Tensor tensor) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
    return set_tensor(*context_, index, std::move(tensor));
  });
}

Status Call::set_sequence(size_t index, std::vector<Tensor> elements) {
  return without_exceptions([&] { return set_list(*context_, index, {true, true, std::move(elements)}); });
}

Status Call::set_sequence(std::string_view name, std::vector<Tensor> elements) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
    return set_list(*context_, index, {true, true, std::move(elements)});
  });
}

Status Call::set_no_value(size_t index) {
  return without_exceptions([&] { return set_list(*context_, index, {true, false, {}}); });
}

Status Call::set_no_value(std::string_view name) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_input(name));
    return set_list(*context_, index, {true, false, {}});
  });
}

Status Call::set_output(size_t index, Tensor tensor) {
  return without_exceptions(
      [&] { return set_buffer(*context_, index, {std::move(tensor), true}); });
}

Status Call::set_output(std::string_view name, Tensor tensor) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_output(name));
    return set_buffer(*context_, index, {std::move(tensor), true});
  });
}

Status Call::set_output_buffer(size_t index, void* data, int64_t capacity) {
  return without_exceptions([&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(vm::OutputBuffer buffer, buffer_of(*context_, index, data, capacity));
    return set_buffer(*context_, index, std::move(buffer));
  });
}

Status Call::run(const CallOptions& options) {
  return without_exceptions([&] { return scopevm::run(*context_, options); });
}

std::span<const Tensor> Call::outputs() const { return context_->results; }

Result<Tensor> Call::output(std::string_view name) const {
  return without_exceptions([&]() -> Result<Tensor> {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_output(name));
    if (index >= context_->results.size())
      return Status(StatusCode::kNotFound, "the call has no results: it has not run, or failed");
    return context_->results[index];
  });
}

Result<bool> Call::has_value(size_t output) const {
  return without_exceptions([&]() -> Result<bool> {
    SCOPEVM_RETURN_IF_ERROR(check_result(*context_, output));
    const vm::ListValue& list = context_->list_results[output];
    return !list.is_set || list.has_value;
  });
}

Result<std::span<const Tensor>> Call::elements(size_t output) const {
  return without_exceptions([&] { return elements_of(*context_, output); });
}

Result<std::span<const Tensor>> Call::elements(std::string_view name) const {
  return without_exceptions([&]() -> Result<std::span<const Tensor>> {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find_output(name));
    return elements_of(*context_, index);
  });
}

void Call::clear_outputs() {
  context_->results.clear();
  context_->clear_list_results();
}

const CallStats& Call::stats() const { return context_->stats; }

Session::Session(std::shared_ptr<vm::BoundSession> bound) : bound_(std::move(bound)) {}

Result<Session> Session::create(const Module& module, SessionOptions options) {
  return without_exceptions([&]() -> Result<Session> {
    SCOPEVM_ASSIGN_OR_RETURN(
        std::shared_ptr<vm::BoundSession> bound,
        vm::BoundSession::create(ModuleAccess::loaded(module), std::move(options)));
    return Session(std::move(bound));
  });
}

Result<std::vector<Tensor>> Session::call(std::span<const Tensor> inputs,
                                          const CallOptions& options) const {
  return without_exceptions([&] { return call_once(bound_, inputs, options); });
}

Result<Call> Session::make_call() const {
  return without_exceptions([&]() -> Result<Call> {
    std::unique_ptr<vm::CallContext> context = bound_->take_context();
    context->session = bound_;
    return Call(std::move(context));
  });
}

Status Session::reserve(const std::map<std::string, DimRange>& dims, int calls) const {
  return without_exceptions([&] { return bound_->reserve(dims, calls); });
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

// Sets inputs and buffers of requests, after checks against the signature; see request_values.h.
#include "vm/api/call/request_values.h"

#include <cstring>
#include <string>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/nearest_name.h"
#include "vm/run/bound/bound.h"
#include "vm/run/bound/request_check.h"
#include "vm/run/call/bind.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/state/call_state.h"

namespace scopevm::vm {
namespace {

Status bad_index(std::string_view kind, size_t index, size_t count) {
  return {StatusCode::kNotFound, "no " + std::string(kind) + " " + std::to_string(index) +
                                     ": the module has " + runtime::count_text(count, kind)};
}

Status set_checked_buffer(Request& request, size_t index, OutputBuffer buffer) {
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
    SCOPEVM_RETURN_IF_ERROR(check_buffer(signature, tensor));
  request.set_output(index, std::move(buffer));
  return {};
}

// A buffer of `capacity` bytes for a result of any dims.
Result<OutputBuffer> buffer_of(const Request& request, size_t index, void* data, int64_t capacity) {
  if (data == nullptr) return OutputBuffer();
  const std::vector<TensorSignature>& outputs = request.session->module().signature().outputs;
  if (index >= outputs.size()) return bad_index("output", index, outputs.size());
  if (capacity < 0)
    return Status(StatusCode::kInvalidArgument,
                  "output \"" + outputs[index].name + "\": the capacity is " +
                      runtime::count_text(capacity, "byte") + ", expected at least 0");
  // set_buffer() refuses buffers for strings. The elements of some small types share bytes.
  const DType declared = outputs[index].dtype;
  const DType dtype = declared == DType::kStr || is_small(declared) ? DType::kU8 : declared;
  const int64_t count = capacity / byte_size(dtype);
  Result<Tensor> tensor = Tensor::borrow(data, dtype, std::span(&count, 1));
  if (!tensor.ok())
    return std::move(tensor).status().with_context("output \"" + outputs[index].name + "\"");
  return OutputBuffer{*std::move(tensor), false, capacity};
}

}  // namespace

Result<size_t> find_input(const Request& request, std::string_view name) {
  return runtime::find_name("input", name, request.session->module().input_names());
}

Result<size_t> find_output(const Request& request, std::string_view name) {
  return runtime::find_name("output", name, request.session->module().output_names());
}

Status set_tensor(Request& request, size_t index, const Tensor& tensor) {
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  if (index >= request.inputs.size()) return bad_index("input", index, request.inputs.size());
  const LoadedModule& module = request.session->module();
  const ValueKind kind = module.signature().inputs[index].kind;
  if (tensor.is_empty()) {
    request.inputs[index] = module.default_inputs()[index];
    request.list_inputs[index] = {};
    return {};
  }
  SCOPEVM_RETURN_IF_ERROR(check_input(module, index, tensor));
  if (kind == ValueKind::kTensor)
    request.inputs[index] = tensor;
  else if (kind == ValueKind::kOptional)
    request.list_inputs[index] = {true, true, {tensor}};
  else
    return {StatusCode::kInvalidArgument,
            "input \"" + module.input_names()[index] + "\": expected a sequence, given a tensor"};
  return {};
}

Status set_list(Request& request, size_t index, ListValue value) {
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  if (index >= request.inputs.size()) return bad_index("input", index, request.inputs.size());
  SCOPEVM_RETURN_IF_ERROR(check_list(request.session->module(), index, value));
  request.list_inputs[index] = std::move(value);
  return {};
}

Status set_buffer(Request& request, size_t index, Tensor tensor) {
  return set_checked_buffer(request, index, {std::move(tensor), true});
}

Status set_buffer(Request& request, size_t index, void* data, int64_t capacity) {
  SCOPEVM_ASSIGN_OR_RETURN(OutputBuffer buffer, buffer_of(request, index, data, capacity));
  return set_checked_buffer(request, index, std::move(buffer));
}

Status set_zeros(Request& request, const std::map<std::string, int64_t>& dims) {
  const LoadedModule& module = request.session->module();
  SCOPEVM_RETURN_IF_ERROR(check_request(module.signature(), dims, 1));
  const std::vector<TensorSignature>& inputs = module.signature().inputs;
  // Only a state can have values in memory of another rank.
  if (request.session->has_inputs_on_ranks()) {
    SCOPEVM_ASSIGN_OR_RETURN(request.state,
                             CallState::create(request.session, {.pairs = {}, .dims = dims}));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (request.state != nullptr && inputs[i].state_output >= 0) continue;
    if (inputs[i].has_default) {
      SCOPEVM_RETURN_IF_ERROR(set_tensor(request, i, Tensor()));
    } else if (inputs[i].kind == ValueKind::kSequence) {
      SCOPEVM_RETURN_IF_ERROR(set_list(request, i, {true, true, {}}));
    } else if (inputs[i].kind != ValueKind::kTensor) {
      SCOPEVM_RETURN_IF_ERROR(set_list(request, i, {true, false, {}}));
    } else {
      SCOPEVM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, input_shape(module, i, dims));
      SCOPEVM_ASSIGN_OR_RETURN(Tensor zeros, Tensor::allocate(inputs[i].dtype, shape));
      if (zeros.dtype() != DType::kStr)
        std::memset(zeros.data(), 0, static_cast<size_t>(zeros.bytes()));
      SCOPEVM_RETURN_IF_ERROR(set_tensor(request, i, zeros));
    }
  }
  return {};
}

Status check_result(const Request& request, size_t output) {
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  if (output < request.results.size()) return {};
  return {StatusCode::kNotFound, "no result " + std::to_string(output) + ": the call has " +
                                     runtime::count_text(request.results.size(), "result")};
}

Result<std::span<const Tensor>> elements_of(const Request& request, size_t output) {
  SCOPEVM_RETURN_IF_ERROR(check_result(request, output));
  const ListValue& list = request.list_results[output];
  if (list.is_set) return std::span<const Tensor>(list.elements);
  return std::span<const Tensor>(&request.results[output], 1);
}

Status run_and_wait(Request& request, const CallOptions& options) {
  if (request.session->scheduler() == nullptr) return request.run_here(options);
  SCOPEVM_RETURN_IF_ERROR(request.check_may_wait());
  request.is_waited_for = true;
  Status status = request.submit({.call = options}, {});
  if (status.ok()) status = *request.wait(std::nullopt);
  request.is_waited_for = false;
  return status;
}

}  // namespace scopevm::vm

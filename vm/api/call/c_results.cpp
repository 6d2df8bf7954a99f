// The functions of the C API for the results of calls (scopevm/c/call.h).
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/count_text.h"
#include "scopevm/scopevm.h"
#include "vm/api/call/call_handle.h"
#include "vm/api/call/request_values.h"

namespace scopevm {
namespace {

Status give_tensor(const Tensor& tensor, DLManagedTensor** out) {
  SCOPEVM_ASSIGN_OR_RETURN(*out, tensor.to_dlpack());
  return {};
}

Status give_tensor(const Tensor& tensor, DLManagedTensorVersioned** out) {
  SCOPEVM_ASSIGN_OR_RETURN(*out, tensor.to_dlpack_versioned());
  return {};
}

template <typename Managed>
Status give_result(const vm::Request& request, size_t index, Managed** out) {
  SCOPEVM_RETURN_IF_ERROR(request.check_idle());
  const std::span<const Tensor> outputs = request.results;
  if (index >= outputs.size())
    return {StatusCode::kNotFound, "no result " + std::to_string(index) + ": the call has " +
                                       runtime::count_text(outputs.size(), "result")};
  // elements() of a tensor result refers to the result in outputs(). The elements of a list are
  // stored in another array.
  if (vm::elements_of(request, index)->data() != &outputs[index])
    return {StatusCode::kInvalidArgument,
            "result " + std::to_string(index) +
                " is a list: read its elements with scopevm_call_output_element"};
  if (outputs[index].is_empty())
    return {StatusCode::kInvalidArgument,
            "result " + std::to_string(index) +
                " is in memory of another rank: read it with scopevm_state_value"};
  return give_tensor(outputs[index], out);
}

// Tensor `element` of a result of any kind.
Result<const Tensor*> find_element(const vm::Request& request, size_t index, size_t element) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::span<const Tensor> elements, vm::elements_of(request, index));
  if (element < elements.size()) return &elements[element];
  return Status(StatusCode::kNotFound, "no element " + std::to_string(element) +
                                           ": the result has " +
                                           runtime::count_text(elements.size(), "element"));
}

Result<std::string_view> find_text(const vm::Request& request, size_t index, size_t element,
                                   size_t position) {
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor* tensor, find_element(request, index, element));
  if (tensor->dtype() != DType::kStr)
    return Status(
        StatusCode::kInvalidArgument,
        "the result has " + std::string(name(tensor->dtype())) + " elements, expected strings");
  if (position >= static_cast<size_t>(tensor->element_count()))
    return Status(StatusCode::kNotFound,
                  "no string " + std::to_string(position) + ": the tensor has " +
                      runtime::count_text(tensor->element_count(), "string"));
  return tensor->string_at(static_cast<int64_t>(position));
}

template <typename Managed>
Status give_element(const vm::Request& request, size_t index, size_t element, Managed** out) {
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor* tensor, find_element(request, index, element));
  return give_tensor(*tensor, out);
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;
using scopevm::Tensor;

scopevm_status* scopevm_call_output(const scopevm_call* call, size_t index, DLManagedTensor** out) {
  return checked({{call, "call"}, {out, "out"}},
                 [&] { return scopevm::give_result(*call->request, index, out); });
}

scopevm_status* scopevm_call_output_versioned(const scopevm_call* call, size_t index,
                                              DLManagedTensorVersioned** out) {
  return checked({{call, "call"}, {out, "out"}},
                 [&] { return scopevm::give_result(*call->request, index, out); });
}

scopevm_status* scopevm_call_output_size(const scopevm_call* call, size_t index, size_t* out_size,
                                         int* out_has_value) {
  return checked({{call, "call"}, {out_size, "out_size"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const auto elements, scopevm::vm::elements_of(*call->request, index));
    const scopevm::vm::ListValue& list = call->request->list_results[index];
    const bool has_value = !list.is_set || list.has_value;
    *out_size = elements.size();
    if (out_has_value != nullptr) *out_has_value = has_value ? 1 : 0;
    return {};
  });
}

scopevm_status* scopevm_call_output_element(const scopevm_call* call, size_t index, size_t element,
                                            DLManagedTensor** out) {
  return checked({{call, "call"}, {out, "out"}},
                 [&] { return scopevm::give_element(*call->request, index, element, out); });
}

scopevm_status* scopevm_call_output_element_versioned(const scopevm_call* call, size_t index,
                                                      size_t element,
                                                      DLManagedTensorVersioned** out) {
  return checked({{call, "call"}, {out, "out"}},
                 [&] { return scopevm::give_element(*call->request, index, element, out); });
}

scopevm_status* scopevm_call_output_dims(const scopevm_call* call, size_t index, size_t element,
                                         const int64_t** out_dims, size_t* out_rank) {
  return checked({{call, "call"}, {out_dims, "out_dims"}, {out_rank, "out_rank"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const Tensor* tensor,
                             scopevm::find_element(*call->request, index, element));
    *out_dims = tensor->dims().data();
    *out_rank = tensor->dims().size();
    return {};
  });
}

scopevm_status* scopevm_call_output_string(const scopevm_call* call, size_t index, size_t element,
                                           size_t position, const char** out_text,
                                           size_t* out_size) {
  return checked({{call, "call"}, {out_text, "out_text"}, {out_size, "out_size"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text,
                             scopevm::find_text(*call->request, index, element, position));
    *out_text = text.data();
    *out_size = text.size();
    return {};
  });
}

void scopevm_call_clear_outputs(scopevm_call* call) {
  if (call != nullptr && !call->request->is_in_flight()) call->request->clear_results();
}

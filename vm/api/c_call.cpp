// The functions of the C API (scopevm/scopevm.h) for calls.
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/count_text.h"
#include "runtime/tensor/dlpack_type.h"
#include "runtime/tensor/shape.h"
#include "scopevm/scopevm.h"
#include "scopevm/session.h"
#include "vm/api/c_support.h"

namespace scopevm {
namespace {

Result<Tensor> to_tensor(const DLTensor* tensor) {
  if (tensor == nullptr) return Tensor();
  return runtime::borrow_dlpack(*tensor);
}

Status give_tensor(const Tensor& tensor, DLManagedTensor** out) {
  SCOPEVM_ASSIGN_OR_RETURN(*out, tensor.to_dlpack());
  return {};
}

Result<Tensor> to_tensor(const scopevm_strings& given) {
  SCOPEVM_RETURN_IF_ERROR(check_array(given.dims, given.rank, "the array of dims"));
  const std::span<const int64_t> dims(given.dims, given.rank);
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(DType::kStr, dims));
  std::vector<std::string_view> strings;
  const auto count = static_cast<size_t>(bytes / byte_size(DType::kStr));
  for (size_t i = 0; i < count; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text,
                             given.strings == nullptr ? to_text(nullptr, "the array of strings")
                             : given.sizes == nullptr
                                 ? to_text(given.strings[i], "string " + std::to_string(i))
                                 : std::string_view(given.strings[i], given.sizes[i]));
    strings.push_back(text);
  }
  return Tensor::from_strings(strings, dims);
}

// Converts the elements of a sequence.
template <typename Given>
Result<std::vector<Tensor>> to_tensors(const Given* given, size_t count) {
  SCOPEVM_RETURN_IF_ERROR(check_array(given, count, "the array of elements"));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_pointer_v<Given>)
      SCOPEVM_RETURN_IF_ERROR(check_not_null({{given[i], "an element"}}));
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, to_tensor(given[i]));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Tensor `element` of a result of any kind.
Result<const Tensor*> find_element(const Call& call, size_t index, size_t element) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::span<const Tensor> elements, call.elements(index));
  if (element < elements.size()) return &elements[element];
  return Status(StatusCode::kNotFound, "no element " + std::to_string(element) +
                                           ": the result has " +
                                           runtime::count_text(elements.size(), "element"));
}

Result<std::string_view> find_text(const Call& call, size_t index, size_t element,
                                   size_t position) {
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor* tensor, find_element(call, index, element));
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

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;
using scopevm::Tensor;

scopevm_status* scopevm_call_create(const scopevm_session* session, scopevm_call** out) {
  return checked({{session, "session"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::Call call, session->session.make_call());
    *out = new scopevm_call{std::move(call)};
    return {};
  });
}

void scopevm_call_free(scopevm_call* call) { delete call; }

scopevm_status* scopevm_call_set_input(scopevm_call* call, const char* name,
                                       const DLTensor* tensor) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor borrowed, scopevm::to_tensor(tensor));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    return call->call.set_input(text, std::move(borrowed));
  });
}

scopevm_status* scopevm_call_set_sequence(scopevm_call* call, const char* name,
                                          const DLTensor* const* tensors, size_t count) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<Tensor> elements, scopevm::to_tensors(tensors, count));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    return call->call.set_sequence(text, std::move(elements));
  });
}

scopevm_status* scopevm_call_set_input_strings(scopevm_call* call, const char* name,
                                               const scopevm_strings* strings) {
  return checked({{call, "call"}, {strings, "strings"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, scopevm::to_tensor(*strings));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    return call->call.set_input(text, std::move(tensor));
  });
}

scopevm_status* scopevm_call_set_sequence_strings(scopevm_call* call, const char* name,
                                                  const scopevm_strings* elements, size_t count) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, scopevm::to_tensors(elements, count));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    return call->call.set_sequence(text, std::move(tensors));
  });
}

scopevm_status* scopevm_call_set_no_value(scopevm_call* call, const char* name) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    return call->call.set_no_value(text);
  });
}

scopevm_status* scopevm_call_set_output(scopevm_call* call, const char* name,
                                        const DLTensor* tensor) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor borrowed, scopevm::to_tensor(tensor));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    return call->call.set_output(text, std::move(borrowed));
  });
}

scopevm_status* scopevm_call_run(scopevm_call* call, int64_t timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  scopevm::CallOptions options;
  // A deadline after the range of the clock never passes.
  const auto longest =
      std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - now);
  if (timeout_ms > 0 && timeout_ms < longest.count())
    options.deadline = now + std::chrono::milliseconds(timeout_ms);
  return checked({{call, "call"}}, [&] { return call->call.run(options); });
}

double scopevm_call_emulated_seconds(const scopevm_call* call) {
  return call == nullptr ? 0 : call->call.stats().emulated_seconds;
}

scopevm_status* scopevm_call_output(const scopevm_call* call, size_t index, DLManagedTensor** out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    const auto outputs = call->call.outputs();
    if (index >= outputs.size())
      return {scopevm::StatusCode::kNotFound,
              "no result " + std::to_string(index) + ": the call has " +
                  scopevm::runtime::count_text(outputs.size(), "result")};
    // elements() of a tensor result refers to the result in outputs(). The elements of a list are
    // stored in another array.
    if (call->call.elements(index)->data() != &outputs[index])
      return {scopevm::StatusCode::kInvalidArgument,
              "result " + std::to_string(index) +
                  " is a list: read its elements with scopevm_call_output_element"};
    return scopevm::give_tensor(outputs[index], out);
  });
}

scopevm_status* scopevm_call_output_size(const scopevm_call* call, size_t index, size_t* out_size,
                                         int* out_has_value) {
  return checked({{call, "call"}, {out_size, "out_size"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const bool has_value, call->call.has_value(index));
    SCOPEVM_ASSIGN_OR_RETURN(const auto elements, call->call.elements(index));
    *out_size = elements.size();
    if (out_has_value != nullptr) *out_has_value = has_value ? 1 : 0;
    return {};
  });
}

scopevm_status* scopevm_call_output_element(const scopevm_call* call, size_t index, size_t element,
                                            DLManagedTensor** out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const Tensor* tensor,
                             scopevm::find_element(call->call, index, element));
    return scopevm::give_tensor(*tensor, out);
  });
}

scopevm_status* scopevm_call_output_dims(const scopevm_call* call, size_t index, size_t element,
                                         const int64_t** out_dims, size_t* out_rank) {
  return checked({{call, "call"}, {out_dims, "out_dims"}, {out_rank, "out_rank"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const Tensor* tensor,
                             scopevm::find_element(call->call, index, element));
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
                             scopevm::find_text(call->call, index, element, position));
    *out_text = text.data();
    *out_size = text.size();
    return {};
  });
}

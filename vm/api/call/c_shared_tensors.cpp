// The functions of the C API for tensors that calls and the program share (scopevm/c/call.h). The
// C++ API uses them for every request.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/tensor/tensor_access.h"
#include "scopevm/scopevm.h"
#include "vm/api/call/call_handle.h"
#include "vm/api/call/request_values.h"

namespace scopevm {
namespace {

// The index of an input or output. `find` words the error.
Status find(const scopevm_call& call,
            const std::vector<std::string>& (vm::LoadedModule::*names)() const,
            Result<size_t> (*find_or_fail)(const vm::Request&, std::string_view), const char* name,
            size_t* out) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, to_text(name, "name"));
  const std::vector<std::string>& known = (call.request->session->module().*names)();
  for (size_t i = 0; i < known.size(); ++i)
    if (known[i] == text) {
      *out = i;
      return {};
    }
  return find_or_fail(*call.request, text).status();
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;
using scopevm::Tensor;
using scopevm::TensorAccess;

scopevm_status* scopevm_call_find_input(const scopevm_call* call, const char* name, size_t* out) {
  return checked({{call, "call"}, {out, "out"}}, [&] {
    return scopevm::find(*call, &scopevm::vm::LoadedModule::input_names, scopevm::vm::find_input,
                         name, out);
  });
}

scopevm_status* scopevm_call_find_output(const scopevm_call* call, const char* name, size_t* out) {
  return checked({{call, "call"}, {out, "out"}}, [&] {
    return scopevm::find(*call, &scopevm::vm::LoadedModule::output_names, scopevm::vm::find_output,
                         name, out);
  });
}

scopevm_status* scopevm_call_share_input(scopevm_call* call, size_t index,
                                         const scopevm_tensor* tensor) {
  return checked({{call, "call"}, {tensor, "tensor"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(
        scopevm::vm::set_tensor(*call->request, index, TensorAccess::of(*tensor)));
    call->copied_bytes[index] = 0;
    return {};
  });
}

scopevm_status* scopevm_call_share_sequence(scopevm_call* call, size_t index,
                                            const scopevm_tensor* tensors, size_t count) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(tensors, count, "the array of elements"));
    const Tensor* const elements = TensorAccess::array_of(tensors);
    SCOPEVM_RETURN_IF_ERROR(
        scopevm::vm::set_list(*call->request, index, {true, true, {elements, elements + count}}));
    call->copied_bytes[index] = 0;
    return {};
  });
}

scopevm_status* scopevm_call_share_output(scopevm_call* call, size_t index,
                                          const scopevm_tensor* tensor) {
  return checked({{call, "call"}, {tensor, "tensor"}}, [&] {
    return scopevm::vm::set_buffer(*call->request, index, TensorAccess::of(*tensor));
  });
}

const scopevm_tensor* scopevm_call_results(const scopevm_call* call, size_t* out_count) {
  size_t count = 0;
  if (call != nullptr && !call->request->is_in_flight()) count = call->request->results.size();
  if (out_count != nullptr) *out_count = count;
  return count == 0 || out_count == nullptr ? nullptr : call->request->results[0].c_tensor();
}

scopevm_status* scopevm_call_find_result(const scopevm_call* call, const char* name,
                                         scopevm_tensor* out) {
  return checked({{call, "call"}, {out, "out"}}, [&]() -> Status {
    const scopevm::vm::Request& request = *call->request;
    SCOPEVM_RETURN_IF_ERROR(request.check_idle());
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, scopevm::to_text(name, "name"));
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, scopevm::vm::find_output(request, text));
    if (index >= request.results.size())
      return {scopevm::StatusCode::kNotFound, "the call has no results: it has not run, or failed"};
    *out = scopevm::TensorAccess::release(request.results[index]);
    return {};
  });
}

scopevm_status* scopevm_call_elements(const scopevm_call* call, size_t index,
                                      const scopevm_tensor** out, size_t* out_count) {
  return checked({{call, "call"}, {out, "out"}, {out_count, "out_count"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const auto elements, scopevm::vm::elements_of(*call->request, index));
    *out = elements.empty() ? nullptr : elements[0].c_tensor();
    *out_count = elements.size();
    return {};
  });
}

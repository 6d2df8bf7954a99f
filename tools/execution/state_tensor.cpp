// Copies tensors out of a run; see state_tensor.h.
#include "tools/execution/state_tensor.h"

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor/shape.h"

namespace scopevm::tool {
namespace {

Result<Tensor> copy_strings(const ExecutionState& state, const RegisterValue& value,
                            int64_t bytes) {
  std::vector<int32_t> ids(static_cast<size_t>(bytes) / sizeof(int32_t));
  SCOPEVM_RETURN_IF_ERROR(state.read(value, 0, std::as_writable_bytes(std::span(ids))));
  std::vector<std::string_view> strings;
  strings.reserve(ids.size());
  for (const int32_t id : ids) strings.push_back(state.string(id).value_or(std::string_view()));
  return Tensor::from_strings(strings, value.dims);
}

}  // namespace

Result<Tensor> copy_tensor(const ExecutionState& state, const RegisterValue& value) {
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(value.dtype, value.dims));
  if (bytes > value.bytes)
    return Status(StatusCode::kInvalidArgument, "the register has fewer bytes than its dims need");
  if (value.dtype == DType::kStr) return copy_strings(state, value, bytes);
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(value.dtype, value.dims));
  SCOPEVM_RETURN_IF_ERROR(
      state.read(value, 0, {static_cast<std::byte*>(tensor.data()), static_cast<size_t>(bytes)}));
  return tensor;
}

}  // namespace scopevm::tool

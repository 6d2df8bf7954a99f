// The functions of the C API for the inputs and buffers of calls (scopevm/c/call.h).
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/tensor/dlpack_type.h"
#include "runtime/tensor/read_strings.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/string_tensor.h"
#include "scopevm/scopevm.h"
#include "vm/api/call/call_handle.h"
#include "vm/api/call/request_values.h"

namespace scopevm {
namespace {

// Adds the bytes that it copies to *copied_bytes.
Result<Tensor> to_tensor(const DLTensor* tensor, int64_t* copied_bytes) {
  if (tensor == nullptr) return Tensor();
  int64_t copied = 0;
  SCOPEVM_ASSIGN_OR_RETURN(Tensor read, runtime::read_dlpack(*tensor, &copied));
  *copied_bytes += copied;
  return read;
}

Result<Tensor> to_tensor(const scopevm_strings& given, int64_t* /*copied_bytes*/) {
  SCOPEVM_RETURN_IF_ERROR(check_array(given.dims, given.rank, "the array of dims"));
  const std::span<const int64_t> dims(given.dims, given.rank);
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(DType::kStr, dims));
  SCOPEVM_ASSIGN_OR_RETURN(
      const std::vector<std::string_view> strings,
      runtime::read_strings(given, static_cast<size_t>(bytes / byte_size(DType::kStr))));
  return runtime::copy_strings(strings, dims);
}

// Converts the elements of a sequence.
template <typename Given>
Result<std::vector<Tensor>> to_tensors(const Given* given, size_t count, int64_t* copied_bytes) {
  SCOPEVM_RETURN_IF_ERROR(check_array(given, count, "the array of elements"));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_pointer_v<Given>)
      SCOPEVM_RETURN_IF_ERROR(check_not_null({{given[i], "an element"}}));
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, to_tensor(given[i], copied_bytes));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Sets an input to a tensor of which it takes ownership on success only.
Status give(vm::Request& to, size_t index, DLManagedTensorVersioned* managed,
            int64_t* copied_bytes) {
  SCOPEVM_RETURN_IF_ERROR(check_not_null({{managed, "tensor"}}));
  SCOPEVM_RETURN_IF_ERROR(runtime::check_dlpack_version(managed->version));
  // Sets the input to a tensor without ownership first, which checks it.
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, to_tensor(&managed->dl_tensor, copied_bytes));
  SCOPEVM_RETURN_IF_ERROR(vm::set_tensor(to, index, tensor));
  if (*copied_bytes > 0) {
    if (managed->deleter != nullptr) managed->deleter(managed);
    return {};
  }
  Result<Tensor> owner = Tensor::from_dlpack(managed);
  if (owner.ok()) return vm::set_tensor(to, index, *owner);
  SCOPEVM_RETURN_IF_ERROR(vm::set_tensor(to, index, Tensor()));
  return std::move(owner).status();
}

enum class Direction { kInput, kOutput };

// The index of the input or output with this name. Errors: kNotFound.
Result<size_t> find(const scopevm_call& call, Direction direction, const char* name) {
  SCOPEVM_ASSIGN_OR_RETURN(const std::string_view text, to_text(name, "name"));
  return direction == Direction::kInput ? vm::find_input(*call.request, text)
                                        : vm::find_output(*call.request, text);
}

Result<size_t> find(const scopevm_call&, Direction, size_t index) { return index; }

// Calls `set` with the index of the input that `key`, a name or an index, denotes, and a counter
// for the bytes that it copies.
template <typename Key, typename Set>
scopevm_status* set_input(scopevm_call* call, Key key, const Set& set) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find(*call, Direction::kInput, key));
    int64_t copied_bytes = 0;
    SCOPEVM_RETURN_IF_ERROR(set(*call->request, index, &copied_bytes));
    call->copied_bytes[index] = copied_bytes;
    return {};
  });
}

template <typename Key, typename Given>
scopevm_status* set_tensor(scopevm_call* call, Key key, const Given& tensor) {
  return set_input(call, key, [&](vm::Request& to, size_t index, int64_t* copied_bytes) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor converted, to_tensor(tensor, copied_bytes));
    return vm::set_tensor(to, index, converted);
  });
}

template <typename Key, typename Given>
scopevm_status* set_sequence(scopevm_call* call, Key key, const Given* elements, size_t count) {
  return set_input(call, key, [&](vm::Request& to, size_t index, int64_t* copied_bytes) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                             to_tensors(elements, count, copied_bytes));
    return vm::set_list(to, index, {true, true, std::move(tensors)});
  });
}

template <typename Key>
scopevm_status* set_strings(scopevm_call* call, Key key, const scopevm_strings* strings) {
  return set_input(call, key, [&](vm::Request& to, size_t index, int64_t* copied_bytes) -> Status {
    SCOPEVM_RETURN_IF_ERROR(check_not_null({{strings, "strings"}}));
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, to_tensor(*strings, copied_bytes));
    return vm::set_tensor(to, index, tensor);
  });
}

template <typename Key>
scopevm_status* set_no_value(scopevm_call* call, Key key) {
  return set_input(call, key, [](vm::Request& to, size_t index, int64_t*) {
    return vm::set_list(to, index, {true, false, {}});
  });
}

template <typename Key>
scopevm_status* set_output(scopevm_call* call, Key key, const DLTensor* tensor) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t index, find(*call, Direction::kOutput, key));
    if (tensor == nullptr) return vm::set_buffer(*call->request, index, Tensor());
    SCOPEVM_ASSIGN_OR_RETURN(Tensor borrowed, runtime::borrow_dlpack(*tensor));
    return vm::set_buffer(*call->request, index, std::move(borrowed));
  });
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_call_set_input(scopevm_call* call, const char* name,
                                       const DLTensor* tensor) {
  return scopevm::set_tensor(call, name, tensor);
}

scopevm_status* scopevm_call_set_input_at(scopevm_call* call, size_t index,
                                          const DLTensor* tensor) {
  return scopevm::set_tensor(call, index, tensor);
}

scopevm_status* scopevm_call_give_input(scopevm_call* call, size_t index,
                                        DLManagedTensorVersioned* tensor) {
  return scopevm::set_input(call, index,
                            [&](scopevm::vm::Request& to, size_t at, int64_t* copied_bytes) {
                              return scopevm::give(to, at, tensor, copied_bytes);
                            });
}

scopevm_status* scopevm_call_set_sequence(scopevm_call* call, const char* name,
                                          const DLTensor* const* tensors, size_t count) {
  return scopevm::set_sequence(call, name, tensors, count);
}

scopevm_status* scopevm_call_set_sequence_at(scopevm_call* call, size_t index,
                                             const DLTensor* const* tensors, size_t count) {
  return scopevm::set_sequence(call, index, tensors, count);
}

scopevm_status* scopevm_call_set_input_strings(scopevm_call* call, const char* name,
                                               const scopevm_strings* strings) {
  return scopevm::set_strings(call, name, strings);
}

scopevm_status* scopevm_call_set_input_strings_at(scopevm_call* call, size_t index,
                                                  const scopevm_strings* strings) {
  return scopevm::set_strings(call, index, strings);
}

scopevm_status* scopevm_call_set_sequence_strings(scopevm_call* call, const char* name,
                                                  const scopevm_strings* elements, size_t count) {
  return scopevm::set_sequence(call, name, elements, count);
}

scopevm_status* scopevm_call_set_sequence_strings_at(scopevm_call* call, size_t index,
                                                     const scopevm_strings* elements,
                                                     size_t count) {
  return scopevm::set_sequence(call, index, elements, count);
}

scopevm_status* scopevm_call_set_no_value(scopevm_call* call, const char* name) {
  return scopevm::set_no_value(call, name);
}

scopevm_status* scopevm_call_set_no_value_at(scopevm_call* call, size_t index) {
  return scopevm::set_no_value(call, index);
}

scopevm_status* scopevm_call_set_output(scopevm_call* call, const char* name,
                                        const DLTensor* tensor) {
  return scopevm::set_output(call, name, tensor);
}

scopevm_status* scopevm_call_set_output_at(scopevm_call* call, size_t index,
                                           const DLTensor* tensor) {
  return scopevm::set_output(call, index, tensor);
}

scopevm_status* scopevm_call_set_output_buffer(scopevm_call* call, size_t index, void* data,
                                               int64_t capacity) {
  return checked({{call, "call"}},
                 [&] { return scopevm::vm::set_buffer(*call->request, index, data, capacity); });
}

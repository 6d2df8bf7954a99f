// The functions of scopevm/c/tensor.h: construction from memory, and validation of shapes and
// pointers.
#include "scopevm/c/tensor.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/c_api/c_arguments.h"
#include "runtime/count_text.h"
#include "runtime/memory/storage.h"
#include "runtime/tensor/read_strings.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/string_tensor.h"
#include "runtime/tensor/tensor_access.h"

namespace scopevm {
namespace {

// The address of borrowed tensors without elements whose data is null, so that data() is null for
// empty tensors only.
alignas(64) char no_elements[64];

// The element type and dims of a tensor that is allocated or borrowed.
struct Type {
  DType dtype;
  std::span<const int64_t> dims;
};

Result<Type> read_type(int dtype, const int64_t* dims, size_t rank) {
  SCOPEVM_RETURN_IF_ERROR(check_array(dims, rank, "dims"));
  if (dtype < 0 || dtype >= kDTypeCount)
    return Status(StatusCode::kInvalidArgument, "no element type " + std::to_string(dtype) +
                                                    ": there are " + std::to_string(kDTypeCount));
  if (static_cast<DType>(dtype) == DType::kStr)
    return Status(StatusCode::kInvalidArgument,
                  "a string tensor cannot be allocated or borrowed: use Tensor::from_strings");
  return Type{static_cast<DType>(dtype), {dims, rank}};
}

Result<Tensor> allocate_tensor(DType dtype, std::span<const int64_t> dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(dtype, dims));
  runtime::Storage* storage = runtime::Storage::allocate(bytes);
  if (storage == nullptr)
    return Status(StatusCode::kOutOfMemory,
                  "tensor of " + runtime::count_text(bytes, "byte") + ": out of memory");
  return TensorAccess::make(storage->data, storage, dtype, dims, bytes);
}

Result<Tensor> borrow_bytes(void* data, DType dtype, std::span<const int64_t> dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(dtype, dims));
  if (data == nullptr && bytes > 0)
    return Status(StatusCode::kInvalidArgument,
                  "tensor of shape " + runtime::shape_text(dims) + ": null data");
  if (data == nullptr) data = no_elements;
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(byte_size(dtype)) != 0)
    return Status(StatusCode::kInvalidArgument,
                  "tensor data is not aligned to " + runtime::count_text(byte_size(dtype), "byte") +
                      ", the size of an element of type " + std::string(name(dtype)));
  return TensorAccess::make(data, nullptr, dtype, dims, bytes);
}

Status give(Result<Tensor> tensor, scopevm_tensor* out) {
  SCOPEVM_RETURN_IF_ERROR(tensor.status());
  *out = TensorAccess::release(*std::move(tensor));
  return {};
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;
using scopevm::Tensor;
using scopevm::TensorAccess;

void scopevm_storage_retain(scopevm_storage* storage) {
  if (storage != nullptr) static_cast<scopevm::runtime::Storage*>(storage)->retain();
}

void scopevm_storage_release(scopevm_storage* storage) {
  if (storage != nullptr) static_cast<scopevm::runtime::Storage*>(storage)->release();
}

const char* scopevm_dtype_name(int dtype) {
  if (dtype < 0 || dtype >= scopevm::kDTypeCount) return nullptr;
  return name(static_cast<scopevm::DType>(dtype)).data();  // a literal
}

size_t scopevm_dtype_bytes(int dtype) { return scopevm_dtype_bits(dtype) / 8; }

size_t scopevm_dtype_bits(int dtype) {
  if (dtype < 0 || dtype >= scopevm::kDTypeCount || dtype == SCOPEVM_STR) return 0;
  const auto type = static_cast<scopevm::DType>(dtype);
  return static_cast<size_t>(8 * byte_size(type) / elements_per_byte(type));
}

scopevm_status* scopevm_tensor_allocate(int dtype, const int64_t* dims, size_t rank,
                                        scopevm_tensor* out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::Type type, scopevm::read_type(dtype, dims, rank));
    return scopevm::give(scopevm::allocate_tensor(type.dtype, type.dims), out);
  });
}

scopevm_status* scopevm_tensor_borrow(void* data, int dtype, const int64_t* dims, size_t rank,
                                      int is_read_only, scopevm_tensor* out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::Type type, scopevm::read_type(dtype, dims, rank));
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, scopevm::borrow_bytes(data, type.dtype, type.dims));
    if (is_read_only != 0) TensorAccess::set_read_only(tensor);
    *out = TensorAccess::release(std::move(tensor));
    return {};
  });
}

scopevm_status* scopevm_tensor_adopt(void* data, int dtype, const int64_t* dims, size_t rank,
                                     void (*release)(void* context), void* context,
                                     scopevm_tensor* out) {
  return checked({{out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::Type type, scopevm::read_type(dtype, dims, rank));
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, scopevm::borrow_bytes(data, type.dtype, type.dims));
    const auto on_release = [release, context] {
      if (release != nullptr) release(context);
    };
    TensorAccess::set_storage(
        tensor, scopevm::runtime::Storage::adopt(tensor.data(), tensor.bytes(), on_release));
    *out = TensorAccess::release(std::move(tensor));
    return {};
  });
}

scopevm_status* scopevm_tensor_from_strings(const scopevm_strings* strings, size_t count,
                                            scopevm_tensor* out) {
  return checked({{strings, "strings"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(
        scopevm::check_array(strings->dims, strings->rank, "the array of dims"));
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<std::string_view> texts,
                             scopevm::runtime::read_strings(*strings, count));
    return scopevm::give(scopevm::runtime::copy_strings(texts, {strings->dims, strings->rank}),
                         out);
  });
}

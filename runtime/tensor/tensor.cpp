// Tensor: construction from memory and validation of shapes and pointers.
#include "scopevm/tensor.h"

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/memory/storage.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/tensor_access.h"
#include "runtime/without_exceptions.h"

namespace scopevm {
namespace {

// The address of borrowed tensors without elements whose data is null, so that data() is null for
// empty tensors only.
alignas(64) char no_elements[64];

Status check_bytes(DType dtype) {
  if (dtype != DType::kStr) return {};
  return {StatusCode::kInvalidArgument,
          "a string tensor cannot be allocated or borrowed: use Tensor::from_strings"};
}

Result<Tensor> allocate_tensor(DType dtype, std::span<const int64_t> dims) {
  SCOPEVM_RETURN_IF_ERROR(check_bytes(dtype));
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, runtime::shape_bytes(dtype, dims));
  runtime::Storage* storage = runtime::Storage::allocate(bytes);
  if (storage == nullptr)
    return Status(StatusCode::kOutOfMemory,
                  "tensor of " + runtime::count_text(bytes, "byte") + ": out of memory");
  return TensorAccess::make(storage->data, storage, dtype, dims, bytes);
}

Result<Tensor> borrow_bytes(void* data, DType dtype, std::span<const int64_t> dims) {
  SCOPEVM_RETURN_IF_ERROR(check_bytes(dtype));
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

}  // namespace

Tensor::Tensor(const Tensor& other)
    : data_(other.data_),
      storage_(other.storage_),
      bytes_(other.bytes_),
      dtype_(other.dtype_),
      is_read_only_(other.is_read_only_),
      rank_(other.rank_),
      dims_(other.dims_) {
  if (storage_ != nullptr) storage_->retain();
}

Tensor::Tensor(Tensor&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      storage_(std::exchange(other.storage_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      dtype_(other.dtype_),
      is_read_only_(other.is_read_only_),
      rank_(std::exchange(other.rank_, uint8_t{0})),
      dims_(other.dims_) {}

Tensor& Tensor::operator=(const Tensor& other) {
  // Copies first, so that a storage shared by both tensors is not released in between.
  if (this != &other) *this = Tensor(other);
  return *this;
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  if (storage_ != nullptr) storage_->release();
  data_ = std::exchange(other.data_, nullptr);
  storage_ = std::exchange(other.storage_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  dtype_ = other.dtype_;
  is_read_only_ = other.is_read_only_;
  rank_ = std::exchange(other.rank_, uint8_t{0});
  dims_ = other.dims_;
  return *this;
}

Tensor::~Tensor() {
  if (storage_ != nullptr) storage_->release();
}

Result<Tensor> Tensor::allocate(DType dtype, std::span<const int64_t> dims) {
  return runtime::without_exceptions([&] { return allocate_tensor(dtype, dims); });
}

Result<Tensor> Tensor::borrow(void* data, DType dtype, std::span<const int64_t> dims) {
  return runtime::without_exceptions([&] { return borrow_bytes(data, dtype, dims); });
}

Result<Tensor> Tensor::borrow(const void* data, DType dtype, std::span<const int64_t> dims) {
  // The const_cast is safe: is_read_only_ prevents use as an output.
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, borrow(const_cast<void*>(data), dtype, dims));
  tensor.is_read_only_ = true;
  return tensor;
}

Result<Tensor> Tensor::adopt(void* data, DType dtype, std::span<const int64_t> dims,
                             std::function<void()> release) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, borrow(data, dtype, dims));
  return runtime::without_exceptions([&]() -> Result<Tensor> {
    tensor.storage_ = runtime::Storage::adopt(data, tensor.bytes_, std::move(release));
    return std::move(tensor);
  });
}

}  // namespace scopevm

// The functions of scopevm/c/tensor.h for DLPack: conversion without copying elements.
#include "scopevm/c/dlpack.h"

#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "runtime/c_api/c_arguments.h"
#include "runtime/memory/storage.h"
#include "runtime/tensor/dlpack_type.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/tensor_access.h"
#include "scopevm/c/tensor.h"
#include "scopevm/tensor.h"

namespace scopevm {
namespace runtime {
namespace {

// Whether the strides are compact and row-major. The stride of an axis of size 1 is irrelevant.
bool is_compact(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
    if (tensor.shape[axis] == 0) return true;
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    // Cannot overflow: shape_bytes() has succeeded.
    expected *= tensor.shape[axis];
  }
  return true;
}

Result<DType> dtype_of(const DLTensor& tensor) {
  if (tensor.device.device_type != kDLCPU)
    return Status(StatusCode::kUnsupported, "DLPack tensor on device type " +
                                                std::to_string(tensor.device.device_type) +
                                                "; expected a CPU tensor");
  const std::optional<DType> dtype = from_dlpack_type(tensor.dtype);
  if (!dtype)
    return Status(StatusCode::kUnsupported,
                  "unsupported DLPack element type: code " + std::to_string(tensor.dtype.code) +
                      ", " + std::to_string(tensor.dtype.bits) + " bits, lanes " +
                      std::to_string(tensor.dtype.lanes));
  if (tensor.ndim < 0)
    return Status(StatusCode::kInvalidArgument,
                  "DLPack tensor of rank " + std::to_string(tensor.ndim));
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    return Status(StatusCode::kInvalidArgument, "DLPack tensor without a shape");
  return *dtype;
}

std::span<const int64_t> dims_of(const DLTensor& tensor) {
  return {tensor.shape, static_cast<size_t>(tensor.ndim)};
}

// A tensor without elements can have null data.
char* data_of(const DLTensor& tensor) {
  char* data = static_cast<char*>(tensor.data);
  return data == nullptr ? nullptr : data + tensor.byte_offset;
}

// Copies the elements from `axis` on to `to`, which is compact. Returns the end of what it wrote.
char* copy_elements(const DLTensor& tensor, int axis, size_t element, const char* from, char* to) {
  if (axis == tensor.ndim) {
    std::memcpy(to, from, element);
    return to + element;
  }
  const auto step = tensor.strides[axis] * static_cast<int64_t>(element);
  for (int64_t i = 0; i < tensor.shape[axis]; ++i)
    to = copy_elements(tensor, axis + 1, element, from + i * step, to);
  return to;
}

}  // namespace

Result<Tensor> borrow_dlpack(const DLTensor& tensor) {
  SCOPEVM_ASSIGN_OR_RETURN(const DType dtype, dtype_of(tensor));
  const std::span<const int64_t> dims = dims_of(tensor);
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, shape_bytes(dtype, dims));
  if (bytes > 0 && !is_compact(tensor))
    return Status(StatusCode::kUnsupported,
                  "DLPack tensor of shape " + shape_text(dims) +
                      " has strides; expected a compact row-major tensor");
  return Tensor::borrow(static_cast<void*>(data_of(tensor)), dtype, dims);
}

Status check_dlpack_version(DLPackVersion version) {
  if (version.major == DLPACK_MAJOR_VERSION) return {};
  return {StatusCode::kUnsupported, "DLPack tensor of version " + std::to_string(version.major) +
                                        "." + std::to_string(version.minor) + "; expected " +
                                        std::to_string(DLPACK_MAJOR_VERSION) + ".x"};
}

Result<Tensor> read_dlpack(const DLTensor& tensor, int64_t* copied_bytes) {
  *copied_bytes = 0;
  SCOPEVM_ASSIGN_OR_RETURN(const DType dtype, dtype_of(tensor));
  const std::span<const int64_t> dims = dims_of(tensor);
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, shape_bytes(dtype, dims));
  if (bytes == 0 || tensor.data == nullptr || is_compact(tensor)) return borrow_dlpack(tensor);
  if (elements_per_byte(dtype) > 1)
    return Status(StatusCode::kUnsupported,
                  "DLPack tensor of type " + std::string(name(dtype)) +
                      " has strides; expected a compact row-major tensor");
  SCOPEVM_ASSIGN_OR_RETURN(Tensor copy, Tensor::allocate(dtype, dims));
  copy_elements(tensor, 0, static_cast<size_t>(byte_size(dtype)), data_of(tensor),
                static_cast<char*>(copy.data()));
  *copied_bytes = bytes;
  return copy;
}

}  // namespace runtime

namespace {

// An exported tensor. `managed` is passed to the receiver; its deleter deletes this object.
template <typename Managed>
struct Exported {
  Managed managed{};
  Tensor tensor;
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> strides{};
};

template <typename Managed>
Result<Managed*> export_tensor(const Tensor& tensor) {
  if (tensor.dtype() == DType::kStr)
    return Status(StatusCode::kUnsupported, "to_dlpack: DLPack does not support string tensors");
  auto* exported = new (std::nothrow) Exported<Managed>;
  if (exported == nullptr) return Status::out_of_memory().with_context("to_dlpack");
  exported->tensor = tensor;
  int64_t stride = 1;
  for (int axis = tensor.rank() - 1; axis >= 0; --axis) {
    exported->shape[axis] = tensor.dims()[axis];
    exported->strides[axis] = stride;
    stride *= tensor.dims()[axis];
  }
  DLTensor& dl = exported->managed.dl_tensor;
  dl.data = tensor.data();
  dl.device = {kDLCPU, 0};
  dl.ndim = tensor.rank();
  dl.dtype = runtime::to_dlpack_type(tensor.dtype());
  dl.shape = exported->shape.data();
  // DLPack 1 requires strides, except of a tensor of rank 0.
  dl.strides = exported->strides.data();
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = [](Managed* self) {
    delete static_cast<Exported<Managed>*>(self->manager_ctx);
  };
  return &exported->managed;
}

// Takes ownership of `managed` on success.
template <typename Managed>
Result<Tensor> import_tensor(Managed* managed) {
  const auto release = [managed] {
    // DLPack allows a null deleter.
    if (managed->deleter != nullptr) managed->deleter(managed);
  };
  int64_t copied_bytes = 0;
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, runtime::read_dlpack(managed->dl_tensor, &copied_bytes));
  if (copied_bytes > 0)
    release();
  else
    TensorAccess::set_storage(tensor,
                              runtime::Storage::adopt(tensor.data(), tensor.bytes(), release));
  return tensor;
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;
using scopevm::Tensor;
using scopevm::TensorAccess;

scopevm_status* scopevm_tensor_from_dlpack(DLManagedTensor* managed, scopevm_tensor* out) {
  return checked({{managed, "managed"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, scopevm::import_tensor(managed));
    *out = TensorAccess::release(std::move(tensor));
    return {};
  });
}

scopevm_status* scopevm_tensor_from_dlpack_versioned(DLManagedTensorVersioned* managed,
                                                     scopevm_tensor* out) {
  return checked({{managed, "managed"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::runtime::check_dlpack_version(managed->version));
    if ((managed->flags & scopevm::runtime::kDLPackPadded) != 0 &&
        managed->dl_tensor.dtype.bits < 8)
      return {scopevm::StatusCode::kUnsupported,
              "DLPack tensor with one element of " + std::to_string(managed->dl_tensor.dtype.bits) +
                  " bits in each byte; expected packed elements"};
    const bool is_read_only = (managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, scopevm::import_tensor(managed));
    if (is_read_only) TensorAccess::set_read_only(tensor);
    *out = TensorAccess::release(std::move(tensor));
    return {};
  });
}

scopevm_status* scopevm_tensor_to_dlpack(const scopevm_tensor* tensor, DLManagedTensor** out) {
  return checked({{tensor, "tensor"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(*out,
                             scopevm::export_tensor<DLManagedTensor>(TensorAccess::of(*tensor)));
    return {};
  });
}

scopevm_status* scopevm_tensor_to_dlpack_versioned(const scopevm_tensor* tensor,
                                                   DLManagedTensorVersioned** out) {
  return checked({{tensor, "tensor"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(
        *out, scopevm::export_tensor<DLManagedTensorVersioned>(TensorAccess::of(*tensor)));
    (*out)->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    (*out)->flags = tensor->is_read_only != 0 ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    return {};
  });
}

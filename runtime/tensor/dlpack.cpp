// Tensor::from_dlpack and to_dlpack: conversion without copying elements.
#include "scopevm/dlpack.h"

#include <new>
#include <optional>
#include <string>

#include "runtime/memory/storage.h"
#include "runtime/tensor/dlpack_type.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/tensor_access.h"
#include "runtime/without_exceptions.h"
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

}  // namespace

Result<Tensor> borrow_dlpack(const DLTensor& tensor) {
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
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
    return Status(StatusCode::kInvalidArgument, "DLPack tensor without a shape");
  const std::span<const int64_t> dims(tensor.shape, static_cast<size_t>(tensor.ndim));
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, shape_bytes(*dtype, dims));
  if (bytes > 0 && !is_compact(tensor))
    return Status(StatusCode::kUnsupported,
                  "DLPack tensor of shape " + shape_text(dims) +
                      " has strides; expected a compact row-major tensor");
  char* data = static_cast<char*>(tensor.data);
  // A tensor without elements can have null data.
  if (data != nullptr) data += tensor.byte_offset;
  return Tensor::borrow(static_cast<void*>(data), *dtype, dims);
}

}  // namespace runtime

namespace {

// An exported tensor. `managed` is passed to the receiver; its deleter deletes this object.
struct Exported {
  DLManagedTensor managed{};
  Tensor tensor;
  std::array<int64_t, kMaxRank> shape{};
};

}  // namespace

Result<Tensor> Tensor::from_dlpack(DLManagedTensor* managed) {
  return runtime::without_exceptions([&]() -> Result<Tensor> {
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, runtime::borrow_dlpack(managed->dl_tensor));
    tensor.storage_ = runtime::Storage::adopt(tensor.data_, tensor.bytes_, [managed] {
      // DLPack allows a null deleter.
      if (managed->deleter != nullptr) managed->deleter(managed);
    });
    return tensor;
  });
}

Result<DLManagedTensor*> Tensor::to_dlpack() const {
  if (dtype_ == DType::kStr)
    return runtime::without_exceptions([]() -> Result<DLManagedTensor*> {
      return Status(StatusCode::kUnsupported, "to_dlpack: DLPack does not support string tensors");
    });
  auto* exported = new (std::nothrow) Exported;
  if (exported == nullptr) return Status::out_of_memory().with_context("to_dlpack");
  exported->tensor = *this;
  exported->shape = dims_;
  DLTensor& dl = exported->managed.dl_tensor;
  dl.data = data_;
  dl.device = {kDLCPU, 0};
  dl.ndim = rank_;
  dl.dtype = runtime::to_dlpack_type(dtype_);
  // Null strides denote a compact row-major tensor.
  dl.shape = exported->shape.data();
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return &exported->managed;
}

}  // namespace scopevm

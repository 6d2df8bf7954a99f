// Access to Tensor's private members for the library's own code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/memory/storage.h"
#include "scopevm/tensor.h"

namespace scopevm {

struct TensorAccess {
  // Creates a tensor that takes over one reference to `storage`; null for borrowed bytes.
  // REQUIRES: dims.size() <= kMaxRank, and `bytes` is the size of the shape.
  static Tensor make(void* data, runtime::Storage* storage, DType dtype,
                     std::span<const int64_t> dims, int64_t bytes) {
    Tensor tensor;
    tensor.data_ = data;
    tensor.storage_ = storage;
    tensor.bytes_ = bytes;
    tensor.dtype_ = dtype;
    tensor.rank_ = static_cast<uint8_t>(dims.size());
    std::ranges::copy(dims, tensor.dims_.begin());
    return tensor;
  }
  static void set_read_only(Tensor& tensor) { tensor.is_read_only_ = true; }
  // Creates a read-only string tensor over packed strings (string_tensor.h).
  static Tensor make_strings(void* data, runtime::Storage* storage, std::span<const int64_t> dims,
                             int64_t bytes) {
    Tensor tensor = make(data, storage, DType::kStr, dims, bytes);
    tensor.is_read_only_ = true;
    return tensor;
  }
  // Takes ownership of a managed tensor of DLPack: Tensor::from_dlpack().
  template <typename Managed>
  static Result<Tensor> adopt(Managed* managed);
  static runtime::Storage* storage(const Tensor& tensor) { return tensor.storage_; }
  static const int64_t* dims(const Tensor& tensor) { return tensor.dims_.data(); }
};

}  // namespace scopevm

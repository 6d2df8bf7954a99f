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
    tensor.c_.data = data;
    tensor.c_.storage = storage;
    tensor.c_.bytes = bytes;
    tensor.c_.dtype = static_cast<uint8_t>(dtype);
    tensor.c_.rank = static_cast<uint8_t>(dims.size());
    std::ranges::copy(dims, tensor.c_.dims);
    return tensor;
  }
  static void set_read_only(Tensor& tensor) { tensor.c_.is_read_only = 1; }
  // Creates a read-only string tensor over packed strings (string_tensor.h).
  static Tensor make_strings(void* data, runtime::Storage* storage, std::span<const int64_t> dims,
                             int64_t bytes) {
    Tensor tensor = make(data, storage, DType::kStr, dims, bytes);
    tensor.c_.is_read_only = 1;
    return tensor;
  }
  // Gives a tensor that borrows its bytes an owner. Takes over one reference.
  static void set_storage(Tensor& tensor, runtime::Storage* storage) {
    tensor.c_.storage = storage;
  }
  static runtime::Storage* storage(const Tensor& tensor) {
    return static_cast<runtime::Storage*>(tensor.c_.storage);
  }
  static const int64_t* dims(const Tensor& tensor) { return tensor.c_.dims; }
  // The struct of the C API. Its receiver takes over the reference to the storage.
  static scopevm_tensor release(Tensor tensor) {
    const scopevm_tensor released = tensor.c_;
    tensor.forget();
    return released;
  }
  // A tensor of the C API, which keeps its own reference.
  static const Tensor& of(const scopevm_tensor& tensor) {
    return reinterpret_cast<const Tensor&>(tensor);
  }
  static const Tensor* array_of(const scopevm_tensor* tensors) {
    return reinterpret_cast<const Tensor*>(tensors);
  }
};

}  // namespace scopevm

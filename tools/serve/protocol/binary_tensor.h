// Tensors as the bytes of the binary extension and of gRPC: elements in row-major order,
// little-endian. Each string has its size before it, in 4 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/module.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::serve {

// The tensor in these bytes, without a copy if their address permits it. Errors: kInvalidArgument
// (another number of bytes, or a byte of BOOL that is neither 0 nor 1), kOutOfMemory.
Result<Tensor> tensor_of_bytes(std::string_view bytes, DType dtype,
                               const std::vector<int64_t>& dims);

size_t binary_size(const Tensor& tensor);
void append_binary(std::string& bytes, const Tensor& tensor);

// The dims of an input or output for clients: -1 if it is not a constant.
std::vector<int64_t> constant_dims(const TensorSignature& tensor);

}  // namespace scopevm::serve

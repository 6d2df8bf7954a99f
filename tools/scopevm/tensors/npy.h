// Reads and writes tensors as NumPy's .npy files (format 1.0 to 3.0).
#pragma once

#include <string>

#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::tool {

// Errors: kNotFound (no such file), kInvalidArgument (not a .npy file, truncated), kUnsupported
// (Fortran order, big-endian, an element type without DType).
Result<Tensor> read_npy(const std::string& path);

// Writes bf16 elements as two raw bytes (V2), because NumPy has no such type. read_npy() reads V2
// as bf16.
Status write_npy(const std::string& path, const Tensor& tensor);

}  // namespace scopevm::tool

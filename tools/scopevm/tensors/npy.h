// NumPy's .npy files (format 1.0 to 3.0) to and from tensors.
#pragma once

#include <string>

#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::tool {

// Errors: kNotFound (no such file), kInvalidArgument (not .npy, cut short), kUnsupported (Fortran
// order, big-endian, an element type without DType).
Result<Tensor> read_npy(const std::string& path);

// bf16 has no NumPy type: it is written, and read, as two raw bytes (V2).
Status write_npy(const std::string& path, const Tensor& tensor);

}  // namespace scopevm::tool

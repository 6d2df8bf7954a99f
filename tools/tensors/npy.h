// Reads tensors from NumPy's .npy files (format versions 1.0 to 3.0) and writes version 1.0.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::tool {

// Reads both orders of elements and of bytes. "-" denotes stdin, which can contain several arrays.
// Errors: kNotFound (the file cannot be opened), kInvalidArgument (not a .npy file, truncated, an
// invalid header, shape or string), kUnsupported (an element type without DType), kOutOfMemory.
Result<Tensor> read_npy(const std::string& path);

// Like read_npy(), from memory.
Result<Tensor> read_npy_bytes(std::span<const uint8_t> bytes);

// Writes bf16 elements as two raw bytes (V2), because NumPy has no such type. read_npy() reads V2
// as bf16. Small types have one byte for each element: integers are i1 or u1, floats V1, which
// read_npy() reads as u8; to_small() converts both. "-" denotes stdout. Errors: kInvalidArgument (a
// string is not UTF-8, or the file cannot be written).
Status write_npy(const std::string& path, const Tensor& tensor);

}  // namespace scopevm::tool

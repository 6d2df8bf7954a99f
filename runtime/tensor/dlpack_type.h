// Conversion of DLPack element types and tensors.
#pragma once

#include <optional>

#include "scopevm/dlpack.h"
#include "scopevm/tensor.h"

namespace scopevm::runtime {

// Returns the corresponding element type, or nothing if there is none.
std::optional<DType> from_dlpack_type(DLDataType type);

// REQUIRES: `dtype` is not kStr.
DLDataType to_dlpack_type(DType dtype);

// Creates a tensor that borrows the bytes of `tensor`. Errors: those of Tensor::from_dlpack.
Result<Tensor> borrow_dlpack(const DLTensor& tensor);

}  // namespace scopevm::runtime

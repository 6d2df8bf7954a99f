// DLPack's element types and tensors as ours.
#pragma once

#include <optional>

#include "scopevm/dlpack.h"
#include "scopevm/tensor.h"

namespace scopevm::runtime {

std::optional<DType> from_dlpack_type(DLDataType type);

// A tensor that borrows the bytes of `tensor`. Errors as Tensor::from_dlpack.
Result<Tensor> borrow_dlpack(const DLTensor& tensor);

}  // namespace scopevm::runtime

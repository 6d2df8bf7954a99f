// Tensors with one element for NAME=NUMBER.
#pragma once

#include <cstddef>
#include <string_view>

#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::tool {

// True for a number, true and false.
bool is_scalar(std::string_view text);

// Returns a tensor with all dims 1 and the element `text`, rounded to the nearest element of a
// floating-point type. Errors: kInvalidArgument (`text` is not an element of the type),
// kOutOfMemory.
Result<Tensor> scalar_tensor(DType dtype, size_t rank, std::string_view text);

}  // namespace scopevm::tool

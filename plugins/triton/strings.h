// Tensors of strings in Triton: each element is its length in 4 bytes, little-endian, and its
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::triton {

// Appends the elements of `bytes`. Errors: kInvalidArgument (an element is longer than the bytes).
Status append_strings(std::string_view bytes, std::vector<std::string_view>& strings);

// The elements [first, first + count) of a string tensor. Errors: kUnsupported (an element of 4 GiB
// or more).
Result<std::string> written_strings(const Tensor& tensor, int64_t first, int64_t count);

}  // namespace scopevm::triton

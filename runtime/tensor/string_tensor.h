// Packs strings in the representation of string tensors (see string_tensor.cpp), in memory of the
// caller.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::runtime {

// The size of the packed strings in bytes. Errors: kInvalidArgument (overflow of int64).
Result<int64_t> packed_bytes(std::span<const std::string_view> strings);
// Packs the strings. REQUIRES: `to` has packed_bytes(strings) bytes and is 8-byte aligned.
void pack_strings(std::span<const std::string_view> strings, void* to);
// Tensor::from_strings().
Result<Tensor> copy_strings(std::span<const std::string_view> strings,
                            std::span<const int64_t> dims);

}  // namespace scopevm::runtime

// Formats one element of a tensor, and its coordinates.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "scopevm/tensor.h"

namespace scopevm::tool {

// REQUIRES: 0 <= index < tensor.element_count().
std::string element_text(const Tensor& tensor, int64_t index);
// With as many digits as distinguish the element from all others of its type.
std::string exact_element_text(const Tensor& tensor, int64_t index);

// The coordinates of the element with this row-major index: "[0, 3]".
// REQUIRES: 0 <= index < product of dims.
std::string index_text(std::span<const int64_t> dims, int64_t index);

}  // namespace scopevm::tool

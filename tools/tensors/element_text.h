// Formats one element of a tensor.
#pragma once

#include <cstdint>
#include <string>

#include "scopevm/tensor.h"

namespace scopevm::tool {

// REQUIRES: 0 <= index < tensor.element_count().
std::string element_text(const Tensor& tensor, int64_t index);

}  // namespace scopevm::tool

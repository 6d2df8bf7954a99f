// Concrete shapes: sizes in bytes, and formatting for messages. See also runtime/bytes_text.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "scopevm/dtype.h"
#include "scopevm/status.h"

namespace scopevm::runtime {

// The size of a tensor in bytes. Errors: kInvalidArgument (rank above kMaxRank, negative dim, or
// overflow of int64).
Result<int64_t> shape_bytes(DType dtype, std::span<const int64_t> dims);

// Formats a shape: "[1, 3, 48, 320]".
std::string shape_text(std::span<const int64_t> dims);

// Formats a tensor type: "f32[1, 3, 48, 320]".
std::string type_text(DType dtype, std::span<const int64_t> dims);

}  // namespace scopevm::runtime

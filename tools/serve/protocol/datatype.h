// The names of element types in the Open Inference Protocol: "FP32", "INT64", "BYTES".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scopevm/dtype.h"

namespace scopevm::serve {

// The protocol has no names for the small types: they have their own, in capitals ("F8E5M2").
std::string datatype_name(DType dtype);

// The inverse of datatype_name(); no value for an unknown name.
std::optional<DType> parse_datatype(std::string_view name);

}  // namespace scopevm::serve

// Converts arrays of JSON into elements of tensors.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/dtype.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::serve {

// A tensor of the elements of `data`: a flat array in row-major order, or arrays nested like the
// dims. Errors: kInvalidArgument (the position and the value of an element that the type does not
// have, another number of elements, or a type that has no elements in JSON), kOutOfMemory.
Result<Tensor> tensor_of_json(simdjson::dom::element data, DType dtype,
                              const std::vector<int64_t>& dims);

}  // namespace scopevm::serve

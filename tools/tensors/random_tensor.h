// Random tensors for NAME=random:... Equal seeds give equal elements on every machine.
#pragma once

#include <cstdint>

#include "scopevm/status.h"
#include "scopevm/tensor.h"
#include "tools/command_line/arguments.h"

namespace scopevm::tool {

// Elements are uniform in [low, high], before they are rounded to the element type. Integers and
// bools are uniform over the integers of this range. Errors: kInvalidArgument (a string tensor; the
// range exceeds that of the element type, or contains no integer), kOutOfMemory.
Result<Tensor> random_tensor(DType dtype, const RandomTensor& request, uint64_t seed);

}  // namespace scopevm::tool

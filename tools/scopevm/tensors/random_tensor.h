// Seeded random elements for NAME=random:..., the same on every machine.
#pragma once

#include <cstdint>

#include "scopevm/status.h"
#include "scopevm/tensor.h"
#include "tools/scopevm/arguments.h"

namespace scopevm::tool {

// Elements are uniform in [low, high]; integers and bools are rounded down within this range. Equal
// seeds give equal tensors.
Result<Tensor> random_tensor(DType dtype, const RandomTensor& request, uint64_t seed);

}  // namespace scopevm::tool

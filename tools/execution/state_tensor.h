// Tensors of a run that is observed.
#pragma once

#include "scopevm/execution_hook.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::tool {

// A copy of the tensor in a register. REQUIRES: the register is neither empty nor a list. Errors:
// kInvalidArgument (fewer bytes than the dims need), kDevice, kOutOfMemory.
Result<Tensor> copy_tensor(const ExecutionState& state, const RegisterValue& value);

}  // namespace scopevm::tool

// Fast memory for the scratch memory of kernels.
#pragma once

#include "compiler/program/program.h"

namespace scopevm::compiler::transform {

// Moves scratch memory of kernels from the workspace into the arena of the highest bandwidth, if
// the machine description gives the bandwidth and the arena's limit cannot be exceeded. Runs after
// enforce_limits(): it uses the room that other buffers leave.
void use_fast_scratch(Program& program);

}  // namespace scopevm::compiler::transform

// Pinned memory for buffers that are copied between devices.
#pragma once

#include "compiler/program/program.h"

namespace scopevm::compiler::transform {

// Moves workspace buffers that are copied to or from another device into the pool that is pinned
// for that device, if the machine has one. Does not move buffers that BufferUses reports as not
// movable, such as those with a required scope.
void use_pinned(Program& program);

}  // namespace scopevm::compiler::transform

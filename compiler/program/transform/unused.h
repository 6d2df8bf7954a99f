// Removal of unused devices.
#pragma once

#include "compiler/program/program.h"

namespace scopevm::compiler::transform {

// Removes unused devices from the program and its machine, so that a session does not need their
// drivers. A device is unused if it is not a CPU, runs no kernels, and stores no value, constant or
// temporary.
void remove_unused_devices(Program& program);

}  // namespace scopevm::compiler::transform

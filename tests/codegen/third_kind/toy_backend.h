// Compiler back end of the device kind "toy": a CPU that is described as an accelerator. Its images
// contain x86-64 baseline code.
#pragma once

#include "compiler/codegen/backend/backend.h"

namespace scopevm::testing {

// In a machine description, a toy device has the member "generation": 1 or 2.
const compiler::codegen::Backend& toy_backend();

}  // namespace scopevm::testing

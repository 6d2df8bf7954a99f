// The compiler's part of the kind "toy": a CPU that is described as an accelerator. Its images are
// those of a CPU without wide vectors.
#pragma once

#include "compiler/codegen/backend/backend.h"

namespace scopevm::testing {

// A device has the member "generation", from 1 to 2.
const compiler::codegen::Backend& toy_backend();

}  // namespace scopevm::testing

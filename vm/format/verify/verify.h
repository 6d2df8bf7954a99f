// The module verifier. The interpreter trusts verified code: every index is in range, every
// register that is read holds a value of the required kind, and every jump targets an instruction.
#pragma once

#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

// Verifies declarations (verify/declarations.cpp), then the instructions of each function
// individually (verify/instructions.cpp) and along control flow (verify/flow.cpp, transfer.cpp).
// The interpreter checks values that depend on the request: sizes and offsets from slots. Errors:
// kInvalidModel, "main: word 12: kill: register 3 is empty, expected a value". Time and memory are
// bounded for every input; control flow that would exceed the bound is rejected with kUnsupported.
Status verify(const ModuleContents& module);

}  // namespace scopevm::format

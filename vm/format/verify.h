// Whether a module may run. After verify(), the interpreter trusts the code: no index is out of
// range, no register is read empty or as what it is not, no jump leaves the instructions.
#pragma once

#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

// Checks declarations (verify/declarations.cpp), then each function's instructions one by one
// (verify/instructions.cpp) and along its control flow (verify/flow.cpp, transfer.cpp). What
// depends on the request - sizes and offsets from slots - is left to the interpreter. Errors:
// "main: word 12: kill: register 3 is empty". Time and memory are bounded whatever the module
// holds; one that would exceed the bound is refused.
Status verify(const ModuleContents& module);

}  // namespace scopevm::format

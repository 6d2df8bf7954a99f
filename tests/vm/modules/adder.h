// An external library for external_contents() of test_modules.h.
#pragma once

#include "scopevm/c/external.h"

namespace scopevm::test {

// Library "test". Its functions add their two operands with a parallel loop, and write every byte
// of the workspace.
extern const scopevm_external_library kAdder;

// Computes one run of a function of kAdder.
void add(const scopevm_external_run& run);

}  // namespace scopevm::test

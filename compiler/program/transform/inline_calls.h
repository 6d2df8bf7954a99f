// Inlining of calls.
#pragma once

#include <cstdint>

#include "compiler/program/program.h"

namespace scopevm::compiler::transform {

// Inlines calls of functions, and calls of closures whose function is known at compile time. Does
// not inline calls of recursive functions, and calls whose caller and callee have more than
// `most_steps` steps together. Removes functions that are not called any more.
void inline_calls(Program& program, int64_t most_steps);

}  // namespace scopevm::compiler::transform

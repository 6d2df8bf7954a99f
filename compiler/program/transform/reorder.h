// An order of the steps that needs less memory.
#pragma once

#include "compiler/program/program.h"

namespace scopevm::compiler::transform {

// Moves steps of each function as long as the peaks of its arenas become lower, at the
// representative dims: one step or several that read the same value, in the same block, past steps
// that do not depend on them. A greedy search: another order can be lower still.
void reorder_steps(Program& program);

}  // namespace scopevm::compiler::transform

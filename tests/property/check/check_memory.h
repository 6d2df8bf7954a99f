// Checks what explain<MemoryExplanation>() reports about a graph.
#pragma once

#include <string>

#include "scopevm/compiler.h"
#include "scopevm/module.h"

namespace scopevm::compiler::property {

// Checks that the lines and pools of main are those of `bound`; that the buffers of each arena do
// not overlap, and that its height, peaks and live buffers follow from them; and that each
// alternative lowers the plan. Computes each number from its definition. Returns a description of
// the first difference; empty if there is none.
std::string wrong_memory(const MemoryExplanation& explanation, const MemoryBound& bound);

}  // namespace scopevm::compiler::property

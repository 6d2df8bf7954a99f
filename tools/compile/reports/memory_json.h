// Prints the memory plan of a model as JSON.
#pragma once

#include "scopevm/compiler.h"

namespace scopevm::tool {

void print_memory_json(const MemoryExplanation& explanation);

}  // namespace scopevm::tool

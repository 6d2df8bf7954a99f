// Prints the memory plan of a model, its peaks, and the changes that lower them.
#pragma once

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Prints the explanation as text or JSON.
void print_memory(const MemoryExplanation& explanation, bool as_json);

}  // namespace scopevm::tool

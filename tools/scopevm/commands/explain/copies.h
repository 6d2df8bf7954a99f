// Prints the copies between places.
#pragma once

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Prints the explanation as text or JSON.
void print_copies(const CopyExplanation& explanation, bool as_json);

}  // namespace scopevm::tool

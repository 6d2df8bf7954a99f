// Prints the parts of a model that external libraries can compute.
#pragma once

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Prints the explanation as text or JSON.
void print_external(const ExternalExplanation& explanation, bool as_json);

}  // namespace scopevm::tool

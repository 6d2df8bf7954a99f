// Prints the shapes of a model's values, its symbols and its checks.
#pragma once

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Prints the explanation as text or JSON.
void print_shapes(const ShapeExplanation& explanation, bool as_json);

}  // namespace scopevm::tool

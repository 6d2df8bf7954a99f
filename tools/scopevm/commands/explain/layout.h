// Prints the layouts of a model's images.
#pragma once

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Prints the explanation as text or JSON.
void print_layout(const LayoutExplanation& explanation, bool as_json);

}  // namespace scopevm::tool

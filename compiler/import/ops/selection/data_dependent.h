// Data-dependent selection, for use by other handlers.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// The slices of x along the axis at which `condition`, a bool vector, is true.
Value taken_where(Node& n, Value x, Value condition, int64_t axis);

}  // namespace scopevm::compiler::frontend

// What handlers elsewhere take of data-dependent sizes.
#pragma once

#include "compiler/frontend/node.h"

namespace scopevm::compiler::frontend {

// The slices of x along axis where `condition`, one bool for each, holds.
Value taken_where(Node& n, Value x, Value condition, int64_t axis);

}  // namespace scopevm::compiler::frontend

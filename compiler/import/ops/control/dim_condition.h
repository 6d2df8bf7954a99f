// Conditions of branches that compare dims of the model's inputs.
#pragma once

#include <optional>
#include <string>

#include "compiler/import/node/node.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::frontend {

// The condition holds if the dim is within the range, or if it is not.
struct DimCondition {
  std::string dim;
  DimBound range;  // within the bounds of the dim
  bool holds_within = true;
};

// The condition of an If as a condition on one dim. No value if it is none: it reads data or
// compares several dims, or it has the same value for all sizes of the dim.
std::optional<DimCondition> dim_condition(Node& n, Value condition);

}  // namespace scopevm::compiler::frontend

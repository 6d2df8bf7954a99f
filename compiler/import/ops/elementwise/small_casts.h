// Conversions of tensors to small element types (model/small_types.h). The results are elements of
// the carrier.
#pragma once

#include "compiler/import/model/small_types.h"
#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

struct SmallCast {
  // Floats out of range: the greatest number, or else NaN or infinity.
  bool saturates = true;
  // To exponents: "up", "down" or "nearest".
  std::string rounding = "up";
};

// As Cast does: floats are rounded to the nearest integer, ties to even, and integers wrap.
Value cast_to_small(Node& n, Value x, const SmallType& to, const SmallCast& how);
// As QuantizeLinear does: integers saturate. x: f32; integers already rounded.
Value quantise_to_small(Node& n, Value x, const SmallType& to, bool saturates);

}  // namespace scopevm::compiler::frontend

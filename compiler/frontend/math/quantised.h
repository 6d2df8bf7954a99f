// Formulas that quantised operators share.
#pragma once

#include "compiler/frontend/node.h"

namespace scopevm::frontend {

// saturate(round(x / scale) + zero) of element type `to`; halves round to even. Operands broadcast;
// zero may be null.
Value quantise(Node& n, Value x, Value scale, Value zero, DType to);
// The same of an f32 quotient.
Value requantise(Node& n, Value x, Value zero, DType to);

// A tensor of one element as a scalar; others stay.
Value as_scalar(Node& n, Value parameter);

}  // namespace scopevm::frontend

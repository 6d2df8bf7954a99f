// Formulas that quantised operators share.
#pragma once

#include <optional>

#include "compiler/frontend/node.h"

namespace scopevm::frontend {

// saturate(round(x / scale) + zero) of element type `to`; halves round to even. Operands broadcast;
// zero may be null.
Value quantise(Node& n, Value x, Value scale, Value zero, DType to);
// The same of an f32 quotient.
Value requantise(Node& n, Value x, Value zero, DType to);

// What a DequantizeLinear made: (values - zero) * scale of bytes, in f32. The scale is one number,
// or one for each index of the last axis; so is the zero point, null when absent.
struct Dequantised {
  Value values, scale, zero;
};
std::optional<Dequantised> dequantised(Value value);
// The matrix product of two such tensors, summed in integers. Null where they are none, or where
// their sums may leave i32: then it is a product of floats.
Value dequantised_product(Node& n, Value a, Value b);

// A tensor of one element as a scalar; others stay.
Value as_scalar(Node& n, Value parameter);

}  // namespace scopevm::frontend

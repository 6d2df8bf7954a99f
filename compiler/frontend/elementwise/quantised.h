// Formulas that quantised operators share.
#pragma once

#include <optional>

#include "compiler/frontend/node.h"

namespace scopevm::compiler::frontend {

// saturate(round(x / scale) + zero) of element type `to`; halves round to even. Operands broadcast;
// zero may be null.
Value quantise(Node& n, Value x, Value scale, Value zero, DType to);
// The same of an f32 quotient.
Value requantise(Node& n, Value x, Value zero, DType to);

// What a DequantizeLinear made: (values - zero) * scale of bytes, in f32. Scale and zero point
// broadcast to the values; the zero point is null when absent.
struct Dequantised {
  Value values, scale, zero;
};
std::optional<Dequantised> dequantised(Value value);
// The matrix product, and the convolution, of two such tensors, summed in integers; `bias` may be
// null. Null where they are none, where sums may leave i32, or where integers gain nothing: then
// it is one of floats.
Value dequantised_product(Node& n, Value a, Value b);
Value dequantised_conv(Node& n, Value x, Value w, Value bias);

// The constant that `value` is, maybe under other dims.
graph::ConstantOp constant_behind(Value value);

// A tensor of one element as a scalar; others stay.
Value as_scalar(Node& n, Value parameter);

}  // namespace scopevm::compiler::frontend

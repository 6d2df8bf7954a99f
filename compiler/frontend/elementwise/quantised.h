// Formulas shared by the quantised operators.
#pragma once

#include <optional>

#include "compiler/frontend/node.h"

namespace scopevm::compiler::frontend {

// saturate(round(x / scale) + zero) of element type `to`; halves round to even. Operands broadcast;
// zero may be null.
Value quantise(Node& n, Value x, Value scale, Value zero, DType to);
// As quantise, for an x that is already the f32 quotient.
Value requantise(Node& n, Value x, Value zero, DType to);

// A tensor produced by DequantizeLinear: (values - zero) * scale, with 8-bit values and f32 result.
// Scale and zero point broadcast to the values; the zero point is null if absent.
struct Dequantised {
  Value values, scale, zero;
};
std::optional<Dequantised> dequantised(Value value);
// The matrix product and the convolution of two dequantised tensors, accumulated in integers;
// `bias` may be null. Null if an operand is not dequantised, if the sums may overflow i32, or if
// integer arithmetic is not faster. The caller then emits the float version.
Value dequantised_product(Node& n, Value a, Value b);
Value dequantised_conv(Node& n, Value x, Value w, Value bias);

// The constant that `value` is, looking through reshapes; null if it is not a constant.
graph::ConstantOp constant_source(Value value);

// Reshapes a one-element tensor to a scalar; returns other tensors unchanged.
Value as_scalar(Node& n, Value parameter);

}  // namespace scopevm::compiler::frontend

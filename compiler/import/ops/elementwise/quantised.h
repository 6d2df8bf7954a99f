// Formulas shared by the handlers of quantised ops.
#pragma once

#include <optional>

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// saturate(round(x / scale) + zero), with element type `to`. Ties are rounded to even. The operands
// broadcast, and `zero` may be null.
Value quantise(Node& n, Value x, Value scale, Value zero, DType to);
// As quantise(), for an `x` of type f32 that is already divided by the scale.
Value requantise(Node& n, Value x, Value zero, DType to);

// The same for x, or a Relu or Clip of x, where x is a product of dequantised operands, without a
// division of elements. Null for any other x.
Value requantised_product(Node& n, Value x, Value scale, Value zero, DType to);

// The outputs of DynamicQuantizeLinear: x as u8, its scale, and its zero point.
struct DynamicallyQuantised {
  Value values, scale, zero;
};
DynamicallyQuantised quantise_dynamically(Node& n, Value x);

// A tensor produced by DequantizeLinear: (values - zero) * scale, with 8-bit values and an f32
// result. Scale and zero point broadcast to the values. The zero point is null if it is absent or
// known to be 0.
struct Dequantised {
  Value values, scale, zero;
};
// No value if `value` is not such a tensor.
std::optional<Dequantised> dequantised(Value value);
// The matrix product and the convolution of two dequantised tensors, accumulated in integers. With
// transpose_b, b is a transposed matrix.
// `bias` may be null. Their results are known to Node::product_of(). Both return null if an operand
// is not dequantised, if the sums may overflow i32, or if the shapes or parameters are not
// supported. The caller then emits the float version.
Value dequantised_product(Node& n, Value a, Value b, bool transpose_b = false);
Value dequantised_conv(Node& n, Value x, Value w, Value bias);

// The constant that produces `value`, directly or through one reshape; null if there is none.
graph::ConstantOp constant_source(Value value);

// Reshapes a tensor of shape [1] to a scalar; returns other tensors unchanged.
Value as_scalar(Node& n, Value parameter);

}  // namespace scopevm::compiler::frontend

// Products and convolutions of 8-bit tensors, shared by the handlers of quantised ops.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// Input `i`; reports an error unless it is u8 or i8.
Value byte_input(Node& n, size_t i);
// The zero point of `of` at input `i`; null if absent.
Value zero_input(Node& n, size_t i, Value of);

// The product of two 8-bit tensors with NumPy semantics, including vectors. `finish` maps the i32
// sums [..., m, n] to the elements of the result.
Value byte_product(Node& n, Value a, Value a_zero, Value b, Value b_zero,
                   llvm::function_ref<Value(Value sums)> finish);

// sums * a_scale * b_scale in f32. The scales are scalars, or that of b has one entry per column.
Value real_sums(Node& n, Value sums, Value a_scale, Value b_scale);

// The f32 product of the f32 matrix a, quantised as by DynamicQuantizeLinear, and of the 8-bit
// matrix b. The zero point can be null.
Value dynamically_quantised_product(Node& n, Value a, Value b, Value b_scale, Value b_zero);

// QLinearConv of x: input 0, as [n, c, spatial...].
Value quantised_conv(Node& n, Value x);

}  // namespace scopevm::compiler::frontend

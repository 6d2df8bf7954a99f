// Ops between DequantizeLinear and QuantizeLinear that only select elements. They select bytes in
// place of floats.
#pragma once

#include "compiler/import/ops/elementwise/quantised.h"

namespace scopevm::compiler::frontend {

// saturate(round(x / scale) + zero) with 8-bit elements, without arithmetic on them: x is made by
// ops that only select elements (graph::SelectingOp) of tensors that were dequantised with the same
// scale and zero point, and of constants. `zero` may be null. Null if x has another form.
Value select_bytes(Node& n, Value x, Value scale, Value zero, DType to);

}  // namespace scopevm::compiler::frontend

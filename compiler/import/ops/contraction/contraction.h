// Products, for variants of Gemm and for constant weights of few bits.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// alpha * A' * B' + beta * C, where A' and B' are the inputs A and B, or their transposes.
Value gemm_of(Node& n);

// a * b, or a * b' with transpose_b, for a constant matrix b of integers with at most 4 bits that
// DequantizeLinear converts to f32. Null for others.
Value packed_product(Node& n, Value a, Value b, bool transpose_b = false);

}  // namespace scopevm::compiler::frontend

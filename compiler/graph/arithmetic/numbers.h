// Scalar arithmetic on compile-time numbers, for constant folding: floats in f64, integers in i64
// wrapped to the width of their type.
#pragma once

#include "compiler/graph/arithmetic/scalar.h"

namespace scopevm::compiler::graph {

// Payloads are double for float types and int64_t for all others: bool as 0 or 1, u64 as its bits.
// Unknown results are left to the kernels. These are powers of integers, casts of NaN or of
// magnitudes from 2^62 to integers, and casts of integers beyond 2^53 to f16 or bf16.
class NumberArithmetic : public Arithmetic {
 public:
  Payload literal(const Scalar& like, DType dtype, double value) override;
  Payload apply(UnaryFunction function, const Scalar& x) override;
  Payload apply(BinaryFunction function, const Scalar& a, const Scalar& b) override;
  Payload select(const Scalar& condition, const Scalar& a, const Scalar& b) override;
  Payload cast(const Scalar& x, DType to) override;
};

}  // namespace scopevm::compiler::graph

// Fast Fourier transforms of constant length.
#pragma once

#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {

// Complex numbers. The imaginary parts can be absent: the numbers are then real.
struct Complex {
  Formula real;
  std::optional<Formula> imaginary;
};

// The sums of x[j] * e^(sign * 2 pi i * j * k / length) over j, for each k: a transform along the
// last dim of x: [lines, length], of type f32 or f64. Memory is proportional to the elements of x.
// REQUIRES: length >= 1.
Complex fast_transform(Node& n, const Complex& x, int64_t length, int sign);

}  // namespace scopevm::compiler::frontend

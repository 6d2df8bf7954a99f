// Formulas of random numbers. Their results are the same on every device, whether or not the
// compiler of the device contracts products and sums to fma: each product is exact in the type in
// which it is added.
#pragma once

#include "compiler/graph/arithmetic/scalar.h"

namespace scopevm::compiler::graph {

// The first 64 bits of Philox4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", 2011) for the 64-bit key and the 128-bit counter whose low half is `counter` and whose high
// half is `stream`. All are u64.
Scalar philox(const Scalar& counter, const Scalar& key, const Scalar& stream);

// A standard normal number, f32, of 64 random bits: the quantile function in single precision
// (M. Wichura, algorithm AS 241, 1988) at a probability of 31 bits, with a random sign. Its
// absolute value is at most 6.4.
Scalar normal_from_bits(const Scalar& bits);

// A number with the standard Gumbel distribution, f32, of 64 random bits: -log(-log(p)) for a
// probability p of 32 bits. It is in [-3.2, 23.6].
Scalar gumbel_from_bits(const Scalar& bits);

}  // namespace scopevm::compiler::graph

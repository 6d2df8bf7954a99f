// Philox, and the quantile functions of distributions; see random.h.
#include "compiler/graph/arithmetic/random.h"

#include <initializer_list>
#include <utility>

namespace scopevm::compiler::graph {
namespace {

// --- Philox. ------------------------------------------------------------------------------------

constexpr double kLow32 = 4294967295.0;  // a mask of the low 32 bits
constexpr int kRounds = 10;
constexpr double kFirstMultiplier = 0xD2511F53, kSecondMultiplier = 0xCD9E8D57;
constexpr double kFirstWeyl = 0x9E3779B9, kSecondWeyl = 0xBB67AE85;

Scalar low(const Scalar& x) { return x & kLow32; }
Scalar high(const Scalar& x) { return x >> 32.0; }

// --- Arithmetic of f32 numbers. -----------------------------------------------------------------

Scalar wide(const Scalar& x) { return cast(x, DType::kF64); }
Scalar rounded(const Scalar& x) { return cast(x, DType::kF32); }

// a * b + c for f32 numbers, rounded to f32. The product is exact in f64.
Scalar multiply_add(const Scalar& a, const Scalar& b, const Scalar& c) {
  return rounded(wide(a) * wide(b) + wide(c));
}

Scalar f32_literal(const Scalar& like, double value) {
  return rounded(literal(like, static_cast<float>(value)));
}

// Evaluates a polynomial by Horner's method. The coefficient of the highest power is first.
Scalar polynomial(const Scalar& x, std::initializer_list<double> coefficients) {
  Scalar sum = f32_literal(x, *coefficients.begin());
  for (const double* c = coefficients.begin() + 1; c != coefficients.end(); ++c)
    sum = multiply_add(sum, x, f32_literal(x, *c));
  return sum;
}

Scalar divide(const Scalar& a, const Scalar& b) { return rounded(wide(a) / wide(b)); }

// 2 artanh(s) = s * (2 + 2/3 s^2 + 2/5 s^4 + ...), as two factors.
// The error is below 2e-8 for s in [-1/3, 1/3].
std::pair<Scalar, Scalar> twice_artanh(const Scalar& s) {
  const Scalar z = multiply_add(s, s, f32_literal(s, 0));
  return {s, polynomial(z, {2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2})};
}

// The natural logarithm of a normal number: log(m 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1)),
// where m is in [sqrt(1/2), sqrt(2)).
Scalar log_of_normal(const Scalar& x) {
  constexpr double kRootOfHalf = 0x3F3504F3, kOne = 0x3F800000, kMantissa = 0x7FFFFF, kBias = 127;
  // The bits of x plus those of 1 / sqrt(1/2), so that the exponent field is e + 127.
  const Scalar shifted = bit_cast(x, DType::kU32) + (kOne - kRootOfHalf);
  const Scalar e = wide(shifted >> 23.0) - kBias;
  const Scalar m = bit_cast((shifted & kMantissa) + kRootOfHalf, DType::kF32);
  const auto [s, sum] = twice_artanh(divide(rounded(wide(m) - 1.0), rounded(wide(m) + 1.0)));
  // Both products are exact.
  return rounded(e * static_cast<float>(0.693147180559945309) + wide(s) * wide(sum));
}

// A probability in (0, 1/2] of the upper 31 bits.
Scalar half_probability(const Scalar& bits) {
  return rounded((wide(bits >> 33.0) + 0.5) * 0x1p-32);
}
Scalar is_odd(const Scalar& bits) { return (bits & 1.0) == 1.0; }

}  // namespace

Scalar philox(const Scalar& counter, const Scalar& key, const Scalar& stream) {
  Scalar c0 = low(counter), c1 = high(counter), c2 = low(stream), c3 = high(stream);
  Scalar k0 = low(key), k1 = high(key);
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) {
      k0 = low(k0 + kFirstWeyl);
      k1 = low(k1 + kSecondWeyl);
    }
    const Scalar first = c0 * kFirstMultiplier, second = c2 * kSecondMultiplier;
    c0 = high(second) ^ c1 ^ k0;
    c1 = low(second);
    c2 = high(first) ^ c3 ^ k1;
    c3 = low(first);
  }
  return c0 | (c1 << 32.0);
}

Scalar normal_from_bits(const Scalar& bits) {
  const Scalar half = half_probability(bits);  // of a tail
  const Scalar q = rounded(0.5 - wide(half));
  const Scalar r = multiply_add(-q, q, f32_literal(q, 0.180625));
  const Scalar ratio =
      divide(polynomial(r, {5.9109374720e1, 1.5929113202e2, 5.0434271938e1, 3.3871327179}),
             polynomial(r, {6.7187563600e1, 7.8757757664e1, 1.7895169469e1, 1}));
  const Scalar central = multiply_add(q, ratio, f32_literal(q, 0));
  const Scalar t = rounded(wide(rounded(sqrt(-wide(log_of_normal(half))))) - 1.6f);
  const Scalar outer =
      divide(polynomial(t, {1.7023821103e-1, 1.3067284816, 2.7568153900, 1.4234372777}),
             polynomial(t, {1.2021132975e-1, 7.3700164250e-1, 1}));
  const Scalar size = select(q <= 0.425, central, outer);
  return select(is_odd(bits), size, -size);
}

Scalar gumbel_from_bits(const Scalar& bits) {
  // A number with the exponential distribution: -log(p) or -log(1 - p) = 2 artanh(p / (2 - p)).
  const Scalar p = half_probability(bits);
  const auto [s, sum] = twice_artanh(divide(p, rounded(2.0 - wide(p))));
  const Scalar small = multiply_add(s, sum, f32_literal(s, 0));
  return -log_of_normal(select(is_odd(bits), small, -log_of_normal(p)));
}

}  // namespace scopevm::compiler::graph

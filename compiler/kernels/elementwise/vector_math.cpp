// Expansions of f32 functions. exp and log follow Cephes (expf, logf); tanh and erf are rational
// approximations on a clamped range.
#include "compiler/kernels/elementwise/vector_math.h"

#include <limits>

namespace scopevm::compiler::kernels {
namespace {

// Evaluates a polynomial by Horner's method. The coefficient of the highest power is first.
Term polynomial(Term x, std::initializer_list<double> coefficients) {
  Term sum = x.number(*coefficients.begin());
  for (const double* c = coefficients.begin() + 1; c != coefficients.end(); ++c) sum = sum * x + *c;
  return sum;
}

// Preserves NaN, because every comparison with NaN is false.
Term clamp(Term x, double low, double high) {
  x = select(x < low, x.number(low), x);
  return select(high < x, x.number(high), x);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// ln 2 in two parts (Cody-Waite reduction). The first part has 9 significant bits, so that its
// products with an exponent are exact.
constexpr double kLn2High = 0.693359375;
constexpr double kLn2Low = -2.12194440e-4;
constexpr int kMantissaBits = 23;

}  // namespace

// e^x = 2^n * e^r, where n = round(x / ln 2) and r = x - n * ln 2. Adding kRound = 1.5 * 2^23 to a
// number rounds it to an integer and leaves n in the low bits. This avoids a conversion to integer,
// which is undefined for NaN.
Term exp_f32(Term x) {
  constexpr double kRound = 12582912.0;
  mlir::Type i32 = x.builder->getI32Type();
  // Outside these bounds, the result is 0 or infinity in f32. The clamp bounds n, so that two
  // factors can represent 2^n.
  x = clamp(x, -104.0, 89.0);
  Term rounded = x * 1.44269504088896341 + kRound;
  Term n = rounded - kRound;
  Term r = x - n * kLn2High;
  r = r - n * kLn2Low;
  Term p = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                          1.6666665459e-1, 5.0000001201e-1});
  p = p * (r * r) + r + 1.0;
  Term bits = bitcast(rounded, i32);
  Term exponent = bits - bits.integer(0x4B400000);  // the bits of kRound
  // 2^n is applied as two factors, because one f32 cannot represent it for n < -126 or n > 127.
  // Small results thus become subnormal or 0, and large results become infinity.
  Term half = shift_right_signed(exponent, 1);
  auto power_of_two = [&](Term e) {
    return bitcast(shift_left(e + e.integer(127), kMantissaBits), x.element());
  };
  return p * power_of_two(half) * power_of_two(exponent - half);
}

// x = (1 + m) * 2^e with 1 + m in [sqrt(1/2), sqrt(2)); log x = e ln 2 + log(1 + m).
Term log_f32(Term x) {
  mlir::Type i32 = x.builder->getI32Type();
  Term subnormal = x < 1.17549435e-38;
  Term scaled = select(subnormal, x * 8388608.0, x);
  Term bits = bitcast(scaled, i32);
  // Subtracts the bits of sqrt(1/2), so that the exponent field of the difference is e.
  Term shifted = bits - bits.integer(0x3F3504F3);
  Term e_bits = shift_right_signed(shifted, kMantissaBits);
  Term m = bitcast(bits - shift_left(e_bits, kMantissaBits), x.element()) - 1.0;
  Term e = x.with(x.builder->create<mlir::arith::SIToFPOp>(x.location, x.type(), e_bits.value));
  // Subnormal inputs were scaled by 2^23.
  e = select(subnormal, e - 23.0, e);
  Term z = m * m;
  Term p = polynomial(
      m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
          -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Term y = m * z * p + e * kLn2Low - z * 0.5;
  y = m + y + e * kLn2High;
  y = select(x == kInfinity, x, y);
  y = select(x == 0.0, x.number(-kInfinity), y);
  // Negative or NaN inputs give NaN.
  Term valid = 0.0 <= x;
  return select(valid, y, x.number(std::numeric_limits<double>::quiet_NaN()));
}

Term tanh_f32(Term x) {
  // At these bounds, the approximation is exactly 1 or -1 in f32.
  x = clamp(x, -7.90531110763549805, 7.90531110763549805);
  Term z = x * x;
  Term p = polynomial(
      z, {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
          1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03});
  Term q = polynomial(
      z, {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03});
  return x * p / q;
}

Term erf_f32(Term x) {
  // At these bounds, erf and the approximation are exactly 1 or -1 in f32.
  x = clamp(x, -4.0, 4.0);
  Term z = x * x;
  Term p = polynomial(
      z, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
          -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02});
  Term q = polynomial(z, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                          -7.37332916720468e-03, -1.42647390514189e-02});
  return x * p / q;
}

// 1 / (1 + e^-x). If e^-x overflows to infinity, the result is 0.
Term sigmoid_f32(Term x) { return 1.0 / (exp_f32(0.0 - x) + 1.0); }

}  // namespace scopevm::compiler::kernels

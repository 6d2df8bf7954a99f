// Formulas composed of several operations; see scalar.h.
#include "compiler/graph/arithmetic/scalar.h"

#include <limits>

namespace scopevm::compiler::graph {

Scalar apply(UnaryFunction function, const Scalar& x) {
  const DType dtype = function == UnaryFunction::kIsNan ? DType::kBool : x.dtype();
  return {x.arithmetic(), dtype, x.arithmetic().apply(function, x)};
}

Scalar apply(BinaryFunction function, const Scalar& a, const Scalar& b) {
  const bool is_comparison = function >= BinaryFunction::kEqual;
  const DType dtype = is_comparison ? DType::kBool : a.dtype();
  return {a.arithmetic(), dtype, a.arithmetic().apply(function, a, b)};
}

Scalar literal(const Scalar& like, double value) {
  return {like.arithmetic(), like.dtype(), like.arithmetic().literal(like, like.dtype(), value)};
}

Scalar select(const Scalar& condition, const Scalar& a, const Scalar& b) {
  return {a.arithmetic(), a.dtype(), a.arithmetic().select(condition, a, b)};
}

Scalar cast(const Scalar& x, DType to) { return {x.arithmetic(), to, x.arithmetic().cast(x, to)}; }

Scalar bit_cast(const Scalar& x, DType to) {
  return {x.arithmetic(), to, x.arithmetic().bit_cast(x, to)};
}

Scalar sign(const Scalar& x) {
  // The sign of 0, -0.0 and NaN is x itself.
  Scalar upper = select(0.0 < x, literal(x, 1.0), x);
  return is_unsigned(x.dtype()) ? upper : select(x < 0.0, literal(x, -1.0), upper);
}

Scalar is_infinite(const Scalar& x, bool negative, bool positive) {
  Arithmetic& arithmetic = x.arithmetic();
  Scalar found(arithmetic, DType::kBool, arithmetic.literal(x, DType::kBool, 0));
  if (!is_float(x.dtype())) return found;
  if (positive) found = found | (x == std::numeric_limits<double>::infinity());
  if (negative) found = found | (x == -std::numeric_limits<double>::infinity());
  return found;
}

// log(1 + x) = log(w) * x / (w - 1), where w is the rounded sum 1 + x. The factor x / (w - 1)
// corrects the rounding of w (W. Kahan). MLIR lowers its log1p to log(1 + x), which loses this
// precision.
Scalar log1p(const Scalar& x) {
  Scalar w = x + 1.0;
  Scalar rounded_x = w - 1.0;
  Scalar returns_x = (rounded_x == 0.0) | (w == std::numeric_limits<double>::infinity());
  Scalar divisor = select(returns_x, literal(x, 1.0), rounded_x);
  return select(returns_x, x, log(w) * (x / divisor));
}

// max(x, 0) + log(1 + e^-|x|), which does not overflow.
Scalar softplus(const Scalar& x) {
  Scalar positive = select(x < 0.0, literal(x, 0.0), x);
  return positive + log1p(exp(select(x < 0.0, x, 0.0 - x)));
}

}  // namespace scopevm::compiler::graph

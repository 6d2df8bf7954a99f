// Formulas of several operations; see the header.
#include "compiler/graph/elementwise/scalar.h"

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

Scalar sign(const Scalar& x) {
  const bool is_unsigned = x.dtype() >= DType::kU8 && x.dtype() <= DType::kU64;
  Scalar upper = select(0.0 < x, literal(x, 1.0), x);
  return is_unsigned ? upper : select(x < 0.0, literal(x, -1.0), upper);
}

Scalar is_infinite(const Scalar& x, bool negative, bool positive) {
  Arithmetic& arithmetic = x.arithmetic();
  Scalar found(arithmetic, DType::kBool, arithmetic.literal(x, DType::kBool, 0));
  if (!is_float(x.dtype())) return found;
  if (positive) found = found | (x == std::numeric_limits<double>::infinity());
  if (negative) found = found | (x == -std::numeric_limits<double>::infinity());
  return found;
}

// max(x, 0) + log(1 + u), u = e^-|x|. log(1+u) from log w, w = 1+u rounded, scaled by u / (w-1),
// which makes up for the rounding (W. Kahan's log1p). MLIR lowers log1p to log(1 + u), rounding and
// all.
Scalar softplus(const Scalar& x) {
  Scalar positive = select(x < 0.0, literal(x, 0.0), x);
  Scalar u = exp(select(x < 0.0, x, 0.0 - x));
  Scalar w = u + 1.0;
  Scalar lost = w - 1.0;
  Scalar is_tiny = lost == 0.0;
  Scalar safe = select(is_tiny, literal(x, 1.0), lost);
  return positive + select(is_tiny, u, log(w) * (u / safe));
}

}  // namespace scopevm::compiler::graph

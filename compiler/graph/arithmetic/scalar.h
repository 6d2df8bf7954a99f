// Scalars: one element in the formula of an elementwise op, in the representation of the evaluator.
//
// Each elementwise op states its formula once, as an expression over Scalars. An evaluator
// implements the primitive operations as an Arithmetic:
//   kernels/elementwise          emits them on SSA values, scalars or vectors
//   graph/arithmetic/numbers     computes them, for constant folding
//   graph/values/symbolic_values computes them over dimension expressions
#pragma once

#include <cstdint>
#include <variant>

#include "compiler/dims/dim_expr.h"
#include "mlir/IR/Value.h"
#include "scopevm/dtype.h"

namespace scopevm::compiler::graph {

class Arithmetic;

class Scalar {
 public:
  // monostate: the evaluator does not know the value.
  using Payload = std::variant<std::monostate, mlir::Value, double, int64_t, DimExpr>;

  // `arithmetic` must outlive the scalar.
  Scalar(Arithmetic& arithmetic, DType dtype, Payload payload)
      : arithmetic_(&arithmetic), dtype_(dtype), payload_(std::move(payload)) {}

  Arithmetic& arithmetic() const { return *arithmetic_; }
  DType dtype() const { return dtype_; }
  bool is_known() const { return !std::holds_alternative<std::monostate>(payload_); }
  const Payload& payload() const { return payload_; }
  // REQUIRES: the payload is a T.
  template <typename T>
  const T& get() const {
    return *std::get_if<T>(&payload_);
  }

 private:
  Arithmetic* arithmetic_;
  DType dtype_;
  Payload payload_;
};

// --- Primitive operations. An evaluator can return an unknown result. ---------------------------

enum class UnaryFunction : uint8_t {
  kAbs,
  kNeg,
  kExp,
  kLog,
  kSqrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kSigmoid,
  kCeil,
  kFloor,
  kRound,  // to the nearest integer, ties to even
  kNot,    // bitwise; logical for bool
  kIsNan,  // result: bool
};

enum class BinaryFunction : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,        // integers round towards zero, and x / 0 is 0
  kModulo,     // with the divisor's sign; integers: x mod 0 is 0
  kRemainder,  // with the dividend's sign, as fmod
  kPower,      // operand types may differ; the result has the type of the first
  kMin,        // NaN if either operand is NaN
  kMax,        // NaN if either operand is NaN
  kAnd,
  kOr,
  kXor,
  kShiftLeft,   // 0 if the shift count is at least the width
  kShiftRight,  // fills with zeros; 0 if the shift count is at least the width
  // Comparisons: the result is a bool, and false if an operand is NaN.
  kEqual,
  kLess,
  kLessEqual
};

class Arithmetic {
 public:
  using Payload = Scalar::Payload;

  virtual ~Arithmetic() = default;
  // `value` in the representation of `like`, with element type `dtype`.
  virtual Payload literal(const Scalar& like, DType dtype, double value) = 0;
  // All operands have one element type, except those of kPower.
  virtual Payload apply(UnaryFunction function, const Scalar& x) = 0;
  virtual Payload apply(BinaryFunction function, const Scalar& a, const Scalar& b) = 0;
  virtual Payload select(const Scalar& condition, const Scalar& a, const Scalar& b) = 0;
  // Integers wrap. Floats convert to integers by rounding towards zero and clamping to the range;
  // NaN converts to 0. To bool: true for every value except 0.
  virtual Payload cast(const Scalar& x, DType to) = 0;
  // The bits of x as an element of a type of the same size. Unknown to evaluators without bits.
  virtual Payload bit_cast(const Scalar&, DType) { return {}; }
};

Scalar apply(UnaryFunction function, const Scalar& x);
Scalar apply(BinaryFunction function, const Scalar& a, const Scalar& b);

// --- Formulas. A literal takes the element type of the other operand. ---------------------------

Scalar literal(const Scalar& like, double value);
Scalar select(const Scalar& condition, const Scalar& a, const Scalar& b);
Scalar cast(const Scalar& x, DType to);
Scalar bit_cast(const Scalar& x, DType to);

inline Scalar operator-(const Scalar& x) { return apply(UnaryFunction::kNeg, x); }
inline Scalar operator~(const Scalar& x) { return apply(UnaryFunction::kNot, x); }
inline Scalar abs(const Scalar& x) { return apply(UnaryFunction::kAbs, x); }
inline Scalar exp(const Scalar& x) { return apply(UnaryFunction::kExp, x); }
inline Scalar log(const Scalar& x) { return apply(UnaryFunction::kLog, x); }
inline Scalar sqrt(const Scalar& x) { return apply(UnaryFunction::kSqrt, x); }
inline Scalar sin(const Scalar& x) { return apply(UnaryFunction::kSin, x); }
inline Scalar cos(const Scalar& x) { return apply(UnaryFunction::kCos, x); }
inline Scalar tan(const Scalar& x) { return apply(UnaryFunction::kTan, x); }
inline Scalar asin(const Scalar& x) { return apply(UnaryFunction::kAsin, x); }
inline Scalar acos(const Scalar& x) { return apply(UnaryFunction::kAcos, x); }
inline Scalar atan(const Scalar& x) { return apply(UnaryFunction::kAtan, x); }
inline Scalar sinh(const Scalar& x) { return apply(UnaryFunction::kSinh, x); }
inline Scalar cosh(const Scalar& x) { return apply(UnaryFunction::kCosh, x); }
inline Scalar tanh(const Scalar& x) { return apply(UnaryFunction::kTanh, x); }
inline Scalar asinh(const Scalar& x) { return apply(UnaryFunction::kAsinh, x); }
inline Scalar acosh(const Scalar& x) { return apply(UnaryFunction::kAcosh, x); }
inline Scalar atanh(const Scalar& x) { return apply(UnaryFunction::kAtanh, x); }
inline Scalar erf(const Scalar& x) { return apply(UnaryFunction::kErf, x); }
inline Scalar sigmoid(const Scalar& x) { return apply(UnaryFunction::kSigmoid, x); }
inline Scalar ceil(const Scalar& x) { return apply(UnaryFunction::kCeil, x); }
inline Scalar floor(const Scalar& x) { return apply(UnaryFunction::kFloor, x); }
inline Scalar round(const Scalar& x) { return apply(UnaryFunction::kRound, x); }
inline Scalar is_nan(const Scalar& x) { return apply(UnaryFunction::kIsNan, x); }

#define SCOPEVM_SCALAR_OPERATOR(symbol, function)                                             \
  inline Scalar operator symbol(const Scalar& a, const Scalar& b) {                           \
    return apply(BinaryFunction::function, a, b);                                             \
  }                                                                                           \
  inline Scalar operator symbol(const Scalar& a, double b) { return a symbol literal(a, b); } \
  inline Scalar operator symbol(double a, const Scalar& b) { return literal(b, a) symbol b; }
SCOPEVM_SCALAR_OPERATOR(+, kAdd)
SCOPEVM_SCALAR_OPERATOR(-, kSub)
SCOPEVM_SCALAR_OPERATOR(*, kMul)
SCOPEVM_SCALAR_OPERATOR(/, kDiv)
SCOPEVM_SCALAR_OPERATOR(&, kAnd)
SCOPEVM_SCALAR_OPERATOR(|, kOr)
SCOPEVM_SCALAR_OPERATOR(^, kXor)
SCOPEVM_SCALAR_OPERATOR(<<, kShiftLeft)
SCOPEVM_SCALAR_OPERATOR(>>, kShiftRight)
SCOPEVM_SCALAR_OPERATOR(==, kEqual)
SCOPEVM_SCALAR_OPERATOR(<, kLess)
SCOPEVM_SCALAR_OPERATOR(<=, kLessEqual)
#undef SCOPEVM_SCALAR_OPERATOR

inline Scalar modulo(const Scalar& a, const Scalar& b) {
  return apply(BinaryFunction::kModulo, a, b);
}
inline Scalar remainder(const Scalar& a, const Scalar& b) {
  return apply(BinaryFunction::kRemainder, a, b);
}
inline Scalar power(const Scalar& a, const Scalar& b) {
  return apply(BinaryFunction::kPower, a, b);
}
inline Scalar min(const Scalar& a, const Scalar& b) { return apply(BinaryFunction::kMin, a, b); }
inline Scalar max(const Scalar& a, const Scalar& b) { return apply(BinaryFunction::kMax, a, b); }
inline Scalar max(const Scalar& a, double b) { return max(a, literal(a, b)); }

Scalar sign(const Scalar& x);
Scalar is_infinite(const Scalar& x, bool negative, bool positive);
Scalar log1p(const Scalar& x);
Scalar softplus(const Scalar& x);

}  // namespace scopevm::compiler::graph

// Emits the formulas of elementwise graph ops as arithmetic on scalars or vectors. vector_math.h
// expands the f32 functions that are common in models. Other transcendental functions call libm in
// f64 for each lane.
#include <limits>
#include <optional>

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/axes.h"
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/elementwise/integer_math.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "compiler/kernels/generators.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

using graph::BinaryFunction;
using graph::Scalar;
using graph::UnaryFunction;

template <typename Op, typename... Args>
Term make(Term x, Args... args) {
  return x.with(x.builder->create<Op>(x.location, x.value, args...));
}

// Calls libm in f64. f32 operands are widened, and their result is rounded to f32.
template <typename Op, typename... Args>
Term in_f64(Term x, Args... args) {
  mlir::Type f64 = x.builder->getF64Type();
  auto widen = [&](Term value) { return cast(value, DType::kF32, DType::kF64); };
  if (x.element() == f64) return make<Op>(x, args.value...);
  return cast(make<Op>(widen(x), widen(args).value...), DType::kF64, DType::kF32);
}

template <typename Op>
Term by_width(Term x, Term (*f32)(Term)) {
  return x.element().isF32() ? f32(x) : make<Op>(x);
}

Term sigmoid(Term x) {
  if (x.element().isF32()) return sigmoid_f32(x);
  return 1.0 / (make<math::ExpOp>(0.0 - x) + 1.0);
}

Term absolute(Term x, bool is_unsigned) {
  if (x.is_float()) return make<math::AbsFOp>(x);
  if (is_unsigned) return x;
  Term zero = x.integer(0);
  return select(less(x, zero), zero - x, x);
}

std::optional<double> float_constant(Term x) {
  mlir::Attribute attribute;
  if (!mlir::matchPattern(x.value, mlir::m_Constant(&attribute))) return std::nullopt;
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(attribute)) {
    if (!dense.isSplat()) return std::nullopt;
    attribute = dense.getSplatValue<mlir::Attribute>();
  }
  if (auto value = mlir::dyn_cast<mlir::FloatAttr>(attribute)) return value.getValueAsDouble();
  return std::nullopt;
}

Term extreme(Term a, Term b, bool greatest, bool is_unsigned) {
  if (!a.is_float()) {
    Term a_is_less = less(a, b, is_unsigned);
    return greatest ? select(a_is_less, b, a) : select(a_is_less, a, b);
  }
  // If one operand is a constant other than NaN, it becomes `b`. One comparison and a select then
  // propagate a NaN in `a`.
  auto a_constant = float_constant(a), b_constant = float_constant(b);
  if (a_constant && !b_constant) {
    std::swap(a, b);
    std::swap(a_constant, b_constant);
  }
  if (b_constant && *b_constant == *b_constant)
    return select(greatest ? less(a, b) : less(b, a), b, a);
  return greatest ? make<arith::MaximumFOp>(a, b.value) : make<arith::MinimumFOp>(a, b.value);
}

// The remainder. It has the sign of a (fmod), or of b if `sign_of_divisor`.
Term remainder(Term a, Term b, bool sign_of_divisor, bool is_unsigned) {
  if (!a.is_float()) return integer_remainder(a, b, sign_of_divisor, is_unsigned);
  Term r = make<arith::RemFOp>(a, b.value);
  if (!sign_of_divisor) return r;
  Term zero = r.number(0.0);
  // fmod has the sign of a. If the signs of r and b differ, r + b has the sign of b.
  Term differ = less(r, zero) ^ less(b, zero);
  return select(differ & (r != zero), r + b, r);
}

// Expands the exponents that are common in models. Calls libm for other exponents.
Term float_power(Term a, Term b) {
  if (auto exponent = float_constant(b)) {
    if (*exponent == 1.0) return a;
    if (*exponent == 2.0) return a * a;
    if (*exponent == 3.0) return a * a * a;
    if (*exponent == -1.0) return 1.0 / a;
    // As pow requires, the result for -0.0 is 0.0, and the result for -infinity is infinity.
    if (*exponent == 0.5) {
      Term infinity = a.number(std::numeric_limits<double>::infinity());
      return select(a == 0.0 - infinity, infinity, make<math::SqrtOp>(a + 0.0));
    }
  }
  return in_f64<math::PowFOp>(a, b);
}

Term power(Term a, Term b, DType a_type, DType b_type) {
  if (!a.is_float() && !b.is_float())
    return integer_power(a, cast(b, b_type, DType::kI64), is_unsigned(a_type), is_unsigned(b_type));
  if (a.is_float()) {
    DType computed = a.element().isF64() ? DType::kF64 : DType::kF32;
    return float_power(a, cast(b, b_type, computed));
  }
  // An integer base with a floating-point exponent. In ONNX, the result has the type of the base.
  Term wide = make<math::PowFOp>(cast(a, a_type, DType::kF64), cast(b, b_type, DType::kF64).value);
  return cast(wide, DType::kF64, a_type);
}

// --- Primitive operations of formulas on SSA values. ---

class KernelArithmetic : public graph::Arithmetic {
 public:
  KernelArithmetic(mlir::OpBuilder& builder, mlir::Location location)
      : builder_(builder), location_(location) {}

  Payload literal(const Scalar& like, DType dtype, double value) override {
    return term(like).number(arithmetic_type(builder_.getContext(), dtype), value).value;
  }
  Payload apply(UnaryFunction function, const Scalar& x) override {
    return emit(function, term(x), is_unsigned(x.dtype())).value;
  }
  Payload apply(BinaryFunction function, const Scalar& a, const Scalar& b) override {
    if (function == BinaryFunction::kPower)
      return power(term(a), term(b), a.dtype(), b.dtype()).value;
    return emit(function, term(a), term(b), is_unsigned(a.dtype())).value;
  }
  Payload select(const Scalar& condition, const Scalar& a, const Scalar& b) override {
    return kernels::select(term(condition), term(a), term(b)).value;
  }
  Payload cast(const Scalar& x, DType to) override {
    return kernels::cast(term(x), x.dtype(), to).value;
  }
  Payload bit_cast(const Scalar& x, DType to) override {
    mlir::Value stored = store_convert(builder_, location_, x.dtype(), x.get<mlir::Value>());
    mlir::Type element = storage_type(builder_.getContext(), to);
    stored = bitcast({builder_, location_, stored}, element).value;
    return load_convert(builder_, location_, to, stored);
  }

 private:
  Term term(const Scalar& x) const { return {builder_, location_, x.get<mlir::Value>()}; }
  static Term emit(UnaryFunction function, Term x, bool is_unsigned);
  static Term emit(BinaryFunction function, Term a, Term b, bool is_unsigned);

  mlir::OpBuilder& builder_;
  mlir::Location location_;
};

Term KernelArithmetic::emit(UnaryFunction function, Term x, bool is_unsigned) {
  switch (function) {
    case UnaryFunction::kAbs:
      return absolute(x, is_unsigned);
    case UnaryFunction::kNeg:
      return x.is_float() ? make<arith::NegFOp>(x) : x.integer(0) - x;
    case UnaryFunction::kExp:
      return by_width<math::ExpOp>(x, exp_f32);
    case UnaryFunction::kLog:
      return by_width<math::LogOp>(x, log_f32);
    case UnaryFunction::kSqrt:
      return make<math::SqrtOp>(x);
    case UnaryFunction::kSin:
      return in_f64<math::SinOp>(x);
    case UnaryFunction::kCos:
      return in_f64<math::CosOp>(x);
    case UnaryFunction::kTan:
      return in_f64<math::TanOp>(x);
    case UnaryFunction::kAsin:
      return in_f64<math::AsinOp>(x);
    case UnaryFunction::kAcos:
      return in_f64<math::AcosOp>(x);
    case UnaryFunction::kAtan:
      return in_f64<math::AtanOp>(x);
    case UnaryFunction::kSinh:
      return in_f64<math::SinhOp>(x);
    case UnaryFunction::kCosh:
      return in_f64<math::CoshOp>(x);
    case UnaryFunction::kTanh:
      return by_width<math::TanhOp>(x, tanh_f32);
    case UnaryFunction::kAsinh:
      return in_f64<math::AsinhOp>(x);
    case UnaryFunction::kAcosh:
      return in_f64<math::AcoshOp>(x);
    case UnaryFunction::kAtanh:
      return in_f64<math::AtanhOp>(x);
    case UnaryFunction::kErf:
      return by_width<math::ErfOp>(x, erf_f32);
    case UnaryFunction::kSigmoid:
      return sigmoid(x);
    case UnaryFunction::kCeil:
      return x.is_float() ? make<math::CeilOp>(x) : x;
    case UnaryFunction::kFloor:
      return x.is_float() ? make<math::FloorOp>(x) : x;
    case UnaryFunction::kRound:
      return x.is_float() ? make<math::RoundEvenOp>(x) : x;
    case UnaryFunction::kNot:
      return x ^ x.integer(-1);
    case UnaryFunction::kIsNan:
      return x.is_float() ? is_nan(x) : x.integer(x.builder->getI1Type(), 0);
  }
  return x;
}

Term KernelArithmetic::emit(BinaryFunction function, Term a, Term b, bool is_unsigned) {
  switch (function) {
    case BinaryFunction::kAdd:
      return a + b;
    case BinaryFunction::kSub:
      return a - b;
    case BinaryFunction::kMul:
      return a * b;
    case BinaryFunction::kDiv:
      return a.is_float() ? a / b : integer_quotient(a, b, is_unsigned);
    case BinaryFunction::kModulo:
      return remainder(a, b, true, is_unsigned);
    case BinaryFunction::kRemainder:
      return remainder(a, b, false, is_unsigned);
    case BinaryFunction::kPower:
      break;  // requires both element types; handled by the caller
    case BinaryFunction::kMin:
      return extreme(a, b, false, is_unsigned);
    case BinaryFunction::kMax:
      return extreme(a, b, true, is_unsigned);
    case BinaryFunction::kAnd:
      return a & b;
    case BinaryFunction::kOr:
      return a | b;
    case BinaryFunction::kXor:
      return a ^ b;
    case BinaryFunction::kShiftLeft:
      return integer_shift(a, b, true);
    case BinaryFunction::kShiftRight:
      return integer_shift(a, b, false);
    case BinaryFunction::kEqual:
      return a == b;
    case BinaryFunction::kLess:
      return less(a, b, is_unsigned);
    case BinaryFunction::kLessEqual:
      return less_equal(a, b, is_unsigned);
  }
  return a;
}

}  // namespace

mlir::Value emit_elementwise(mlir::OpBuilder& builder, mlir::Operation* op,
                             mlir::ValueRange operands) {
  auto elementwise = mlir::dyn_cast<graph::ElementwiseOp>(op);
  if (!elementwise) return nullptr;
  KernelArithmetic arithmetic(builder, op->getLoc());
  llvm::SmallVector<Scalar, 3> scalars;
  for (auto [value, operand] : llvm::zip(op->getOperands(), operands))
    scalars.emplace_back(arithmetic, dtype_of(value), operand);
  return elementwise.evaluate(scalars).get<mlir::Value>();
}

}  // namespace scopevm::compiler::kernels

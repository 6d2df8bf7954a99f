// One elementwise graph op -> arithmetic on scalars or vectors. f32 functions that models run hot
// are expanded in vector_math.h; the rest are computed in f64 by libm, lane by lane.
#include <limits>
#include <optional>

#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/elementwise/integer_math.h"
#include "compiler/kernels/elementwise/vector_math.h"
#include "compiler/kernels/generator.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

DType dtype_of(mlir::Value value) {
  return mlir::cast<graph::TensorType>(value.getType()).getDtype();
}

template <typename Op, typename... Args>
Term make(Term x, Args... args) {
  return x.with(x.builder->create<Op>(x.location, x.value, args...));
}

// Calls libm for f64 and, with the result rounded once, for f32.
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

// max(x, 0) + log(1 + u), u = e^-|x|. log(1+u) from log w, w = 1+u rounded, scaled by u / (w-1),
// which makes up for the rounding. (MLIR lowers log1p to log(1 + u), rounding and all.)
Term softplus(Term x) {
  Term zero = x.number(0.0);
  Term positive = choose(less(x, zero), zero, x);
  Term u = by_width<math::ExpOp>(choose(less(x, zero), x, zero - x), exp_f32);
  Term w = u + 1.0;
  Term lost = w - 1.0;
  Term is_tiny = equal(lost, zero);
  Term safe = choose(is_tiny, x.number(1.0), lost);
  return positive + choose(is_tiny, u, by_width<math::LogOp>(w, log_f32) * (u / safe));
}

Term absolute(Term x, bool is_unsigned) {
  if (x.is_float()) return make<math::AbsFOp>(x);
  if (is_unsigned) return x;
  Term zero = x.integer(0);
  return choose(less(x, zero), zero - x, x);
}

// Keeps NaN and is one instruction on x86 (max with the constant as second operand).
Term relu(Term x, bool is_unsigned) {
  if (is_unsigned) return x;
  Term zero = x.number(0.0);
  return choose(less(x, zero), zero, x);
}

Term sign(Term x, bool is_unsigned) {
  Term zero = x.number(0.0), one = x.number(1.0);
  Term upper = choose(less(zero, x, is_unsigned), one, x);
  if (is_unsigned) return upper;
  return choose(less(x, zero), x.number(-1.0), upper);
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
    return greatest ? choose(a_is_less, b, a) : choose(a_is_less, a, b);
  }
  // Beside a constant the comparison alone keeps NaN, and is one instruction.
  auto a_constant = float_constant(a), b_constant = float_constant(b);
  if (a_constant && !b_constant) {
    std::swap(a, b);
    std::swap(a_constant, b_constant);
  }
  if (b_constant && *b_constant == *b_constant)
    return choose(greatest ? less(a, b) : less(b, a), b, a);
  return greatest ? make<arith::MaximumFOp>(a, b.value) : make<arith::MinimumFOp>(a, b.value);
}

// Remainder with the sign of a (fmod), or of b.
Term remainder(Term a, Term b, bool sign_of_divisor, bool is_unsigned) {
  if (!a.is_float()) return integer_remainder(a, b, sign_of_divisor, is_unsigned);
  Term r = make<arith::RemFOp>(a, b.value);
  if (!sign_of_divisor) return r;
  Term zero = r.number(0.0);
  Term differ = less(r, zero) ^ less(b, zero);
  return choose(differ & unequal(r, zero), r + b, r);
}

// Exponents that models use are products and roots; the rest goes to libm.
Term float_power(Term a, Term b) {
  if (auto exponent = float_constant(b)) {
    if (*exponent == 1.0) return a;
    if (*exponent == 2.0) return a * a;
    if (*exponent == 3.0) return a * a * a;
    if (*exponent == -1.0) return 1.0 / a;
  }
  return in_f64<math::PowFOp>(a, b);
}

Term power(Term a, Term b, DType a_type, DType b_type) {
  if (!a.is_float() && !b.is_float())
    return integer_power(a, cast(b, b_type, DType::kI64), is_unsigned(b_type));
  if (a.is_float()) {
    DType computed = a.element().isF64() ? DType::kF64 : DType::kF32;
    return float_power(a, cast(b, b_type, computed));
  }
  Term wide = make<math::PowFOp>(cast(a, a_type, DType::kF64), cast(b, b_type, DType::kF64).value);
  return cast(wide, DType::kF64, a_type);
}

Term is_infinite(Term x, bool negative, bool positive) {
  Term no = x.integer(x.builder->getI1Type(), 0);
  if (!x.is_float()) return no;
  Term found = no;
  if (positive) found = found | equal(x, x.number(std::numeric_limits<double>::infinity()));
  if (negative) found = found | equal(x, x.number(-std::numeric_limits<double>::infinity()));
  return found;
}

std::optional<Term> emit_function(mlir::Operation* op, Term x) {
  using Result = std::optional<Term>;
  bool is_unsigned_x = is_unsigned(dtype_of(op->getOperand(0)));
  return llvm::TypeSwitch<mlir::Operation*, Result>(op)
      .Case<graph::ExpOp>([&](auto) { return by_width<math::ExpOp>(x, exp_f32); })
      .Case<graph::LogOp>([&](auto) { return by_width<math::LogOp>(x, log_f32); })
      .Case<graph::TanhOp>([&](auto) { return by_width<math::TanhOp>(x, tanh_f32); })
      .Case<graph::ErfOp>([&](auto) { return by_width<math::ErfOp>(x, erf_f32); })
      .Case<graph::SqrtOp>([&](auto) { return make<math::SqrtOp>(x); })
      .Case<graph::ReciprocalOp>([&](auto) { return 1.0 / x; })
      .Case<graph::SinOp>([&](auto) { return in_f64<math::SinOp>(x); })
      .Case<graph::CosOp>([&](auto) { return in_f64<math::CosOp>(x); })
      .Case<graph::TanOp>([&](auto) { return in_f64<math::TanOp>(x); })
      .Case<graph::AsinOp>([&](auto) { return in_f64<math::AsinOp>(x); })
      .Case<graph::AcosOp>([&](auto) { return in_f64<math::AcosOp>(x); })
      .Case<graph::AtanOp>([&](auto) { return in_f64<math::AtanOp>(x); })
      .Case<graph::SinhOp>([&](auto) { return in_f64<math::SinhOp>(x); })
      .Case<graph::CoshOp>([&](auto) { return in_f64<math::CoshOp>(x); })
      .Case<graph::AsinhOp>([&](auto) { return in_f64<math::AsinhOp>(x); })
      .Case<graph::AcoshOp>([&](auto) { return in_f64<math::AcoshOp>(x); })
      .Case<graph::AtanhOp>([&](auto) { return in_f64<math::AtanhOp>(x); })
      .Case<graph::SigmoidOp>([&](auto) { return sigmoid(x); })
      .Case<graph::SoftplusOp>([&](auto) { return softplus(x); })
      .Case<graph::CeilOp>([&](auto) { return x.is_float() ? make<math::CeilOp>(x) : x; })
      .Case<graph::FloorOp>([&](auto) { return x.is_float() ? make<math::FloorOp>(x) : x; })
      .Case<graph::RoundOp>([&](auto) { return x.is_float() ? make<math::RoundEvenOp>(x) : x; })
      .Case<graph::AbsOp>([&](auto) { return absolute(x, is_unsigned_x); })
      .Case<graph::NegOp>(
          [&](auto) { return x.is_float() ? make<arith::NegFOp>(x) : x.integer(0) - x; })
      .Case<graph::SignOp>([&](auto) { return sign(x, is_unsigned_x); })
      .Case<graph::ReluOp>([&](auto) { return relu(x, is_unsigned_x); })
      .Case<graph::LogicalNotOp, graph::BitNotOp>([&](auto) { return x ^ x.integer(-1); })
      .Case<graph::IsNanOp>(
          [&](auto) { return x.is_float() ? is_nan(x) : x.integer(x.builder->getI1Type(), 0); })
      .Case<graph::IsInfOp>(
          [&](auto test) { return is_infinite(x, test.getNegative(), test.getPositive()); })
      .Case<graph::CastOp>(
          [&](auto to) { return cast(x, dtype_of(to.getX()), dtype_of(to.getResult())); })
      .Default([](auto) { return Result(); });
}

std::optional<Term> emit_operator(mlir::Operation* op, Term a, Term b) {
  using Result = std::optional<Term>;
  DType a_type = dtype_of(op->getOperand(0)), b_type = dtype_of(op->getOperand(1));
  bool is_unsigned_a = is_unsigned(a_type);
  return llvm::TypeSwitch<mlir::Operation*, Result>(op)
      .Case<graph::AddOp>([&](auto) { return a + b; })
      .Case<graph::SubOp>([&](auto) { return a - b; })
      .Case<graph::MulOp>([&](auto) { return a * b; })
      .Case<graph::DivOp>(
          [&](auto) { return a.is_float() ? a / b : integer_quotient(a, b, is_unsigned_a); })
      .Case<graph::ModOp>([&](auto) { return remainder(a, b, true, is_unsigned_a); })
      .Case<graph::FmodOp>([&](auto) { return remainder(a, b, false, is_unsigned_a); })
      .Case<graph::PowOp>([&](auto) { return power(a, b, a_type, b_type); })
      .Case<graph::MinOp>([&](auto) { return extreme(a, b, false, is_unsigned_a); })
      .Case<graph::MaxOp>([&](auto) { return extreme(a, b, true, is_unsigned_a); })
      .Case<graph::AndOp, graph::BitAndOp>([&](auto) { return a & b; })
      .Case<graph::OrOp, graph::BitOrOp>([&](auto) { return a | b; })
      .Case<graph::XorOp, graph::BitXorOp>([&](auto) { return a ^ b; })
      .Case<graph::ShiftLeftOp>([&](auto) { return integer_shift(a, b, true); })
      .Case<graph::ShiftRightOp>([&](auto) { return integer_shift(a, b, false); })
      .Case<graph::EqualOp>([&](auto) { return equal(a, b); })
      .Case<graph::LessOp>([&](auto) { return less(a, b, is_unsigned_a); })
      .Case<graph::LessEqualOp>([&](auto) { return less_equal(a, b, is_unsigned_a); })
      .Case<graph::GreaterOp>([&](auto) { return less(b, a, is_unsigned_a); })
      .Case<graph::GreaterEqualOp>([&](auto) { return less_equal(b, a, is_unsigned_a); })
      .Default([](auto) { return Result(); });
}

}  // namespace

bool is_elementwise(mlir::Operation* op) {
  using namespace graph;
  return mlir::isa<AbsOp, NegOp, ExpOp, LogOp, SqrtOp, ReciprocalOp, SinOp, CosOp, TanOp, AsinOp,
                   AcosOp, AtanOp, SinhOp, CoshOp, TanhOp, AsinhOp, AcoshOp, AtanhOp, ErfOp, CeilOp,
                   FloorOp, RoundOp, SignOp, SigmoidOp, ReluOp, SoftplusOp, LogicalNotOp, BitNotOp,
                   IsNanOp, IsInfOp, AddOp, SubOp, MulOp, DivOp, ModOp, FmodOp, PowOp, MinOp, MaxOp,
                   AndOp, OrOp, XorOp, BitAndOp, BitOrOp, BitXorOp, ShiftLeftOp, ShiftRightOp,
                   EqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp, SelectOp, CastOp>(op);
}

mlir::Value emit_elementwise(mlir::OpBuilder& builder, mlir::Operation* op,
                             mlir::ValueRange operands) {
  auto term = [&](size_t i) { return Term(builder, op->getLoc(), operands[i]); };
  if (mlir::isa<graph::SelectOp>(op)) return choose(term(0), term(1), term(2)).value;
  if (!is_elementwise(op)) return nullptr;
  std::optional<Term> result =
      operands.size() == 1 ? emit_function(op, term(0)) : emit_operator(op, term(0), term(1));
  return result ? result->value : nullptr;
}

}  // namespace scopevm::compiler::kernels

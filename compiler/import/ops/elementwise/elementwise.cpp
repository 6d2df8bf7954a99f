// Elementwise ONNX ops: most map to one graph op, the others to a short formula.
#include "compiler/graph/type_rule.h"
#include "compiler/import/builder/small_values.h"
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/elementwise/activation.h"
#include "compiler/import/ops/elementwise/small_casts.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

template <typename Op>
Values unary(Node& n) {
  return n.emit<Op>({n.input(0)});
}

template <typename Op>
Values binary(Node& n) {
  return n.emit<Op>({n.input(0), n.input(1)});
}

// Before opset 7, the attribute `broadcast` enables broadcasting. The attribute `axis` is then an
// axis of `a`: the first axis of `b` is aligned with it.
template <typename Op>
Values old_binary(Node& n) {
  Value a = n.input(0), b = n.input(1);
  int64_t trailing = n.rank(a) - n.rank(b);
  if (n.flag("broadcast", false) && n.has_attribute("axis") && trailing > 0) {
    // Appends dims of size 1 to b, so that broadcasting aligns its first dim with `axis` of a.
    trailing -= n.axis(n.integer("axis", 0), n.rank(a));
    Dims dims(n.shape(b));
    if (trailing > 0) dims.append(static_cast<size_t>(trailing), DimExpr(1));
    b = n.reshape(b, dims);
  }
  return n.emit<Op>({a, b});
}

// Combines any number of operands from the left, for Sum, Mean, Min and Max.
template <typename Op>
Value fold(Node& n) {
  Value result;
  for (Value next : n.inputs()) result = result ? n.emit<Op>({result, next}) : next;
  return result;
}

template <typename Op>
Values variadic(Node& n) {
  return fold<Op>(n);
}

Values mean(Node& n) {
  Value sum = fold<AddOp>(n);
  return n.emit<DivOp>({sum, n.scalar(static_cast<double>(n.input_count()), sum)});
}

// The conversion to a type that an attribute or another input names: a small type, or `to`.
Values converted(Node& n, const SmallType* small, DType to) {
  n.set_small_result(small);
  if (!small) return n.cast(n.input(0), to);
  Value x = n.input(0);
  if (n.small_type(0) == small) return x;
  return cast_to_small(
      n, x, *small,
      {.saturates = n.flag("saturate", true), .rounding = n.text("round_mode", "up")});
}

Values cast(Node& n) {
  std::optional<DType> to = dtype_of_onnx(static_cast<int>(n.integer("to")));
  if (!to)
    return n.unsupported("a cast to element type " +
                         onnx_type_name(static_cast<int>(n.integer("to"))) + " is not supported");
  return converted(n, small_type(static_cast<int>(n.integer("to"))), *to);
}

// The bits of x as elements of another type of the same size.
Values bit_cast(Node& n) {
  const int code = static_cast<int>(n.integer("to"));
  std::optional<DType> to = dtype_of_onnx(code);
  if (!to)
    return n.unsupported("a cast to element type " + onnx_type_name(code) + " is not supported");
  const std::string_view type = name(*to);
  Value x = n.input(0);
  const SmallType *small_from = n.small_type(0), *small_to = small_type(code);
  n.set_small_result(small_to);
  if (n.has_failed() || (n.dtype(x) == *to && small_from == small_to)) return x;
  if (small_from || small_to) {
    const int64_t from_bits = small_from ? small_from->bits : 8 * byte_size(n.dtype(x));
    const int64_t to_bits = small_to ? small_to->bits : 8 * byte_size(*to);
    if (from_bits != to_bits)
      return n.fail("elements of " + llvm::Twine(from_bits) + " bits cannot become elements of " +
                    llvm::Twine(to_bits) + " bits");
    if (small_from) x = bits_of_small(n.builder(), x, *small_from);
    if (small_to) {
      if (n.dtype(x) != DType::kU8) x = n.emit<BitCastOp>({x}, {n.attr("to", "u8")});
      return small_of_bits(n.builder(), x, *small_to);
    }
    if (*to == DType::kU8) return x;
  }
  return n.emit<BitCastOp>({x}, {n.attr("to", llvm::StringRef(type.data(), type.size()))});
}

Values cast_like(Node& n) { return converted(n, n.small_type(1), n.dtype(n.input(1))); }

Values is_inf(Node& n) {
  return n.emit<IsInfOp>({n.input(0)}, {n.attr("negative", n.flag("detect_negative", true)),
                                        n.attr("positive", n.flag("detect_positive", true))});
}

Values modulo(Node& n) { return n.flag("fmod", false) ? binary<FmodOp>(n) : binary<ModOp>(n); }

Values bit_shift(Node& n) {
  std::string direction = n.text("direction", "");
  if (direction == "LEFT") return binary<ShiftLeftOp>(n);
  if (direction == "RIGHT") return binary<ShiftRightOp>(n);
  return n.fail("direction is " + runtime::quoted(direction) + ", expected LEFT or RIGHT");
}

Values where(Node& n) { return n.emit<SelectOp>({n.input(0), n.input(1), n.input(2)}); }

Value clamp(Node& n, Value x, Value low, Value high) {
  if (low) x = n.emit<MaxOp>({x, low});
  return high ? n.emit<MinOp>({x, high}) : x;
}

Values clip_with_attributes(Node& n) {
  Value x = n.input(0);
  Value low = n.has_attribute("min") ? n.scalar(n.number("min", 0), x) : Value();
  Value high = n.has_attribute("max") ? n.scalar(n.number("max", 0), x) : Value();
  return clamp(n, x, low, high);
}

Values clip(Node& n) {
  const Value x = n.input(0), low = n.input_or(1, Value()), high = n.input_or(2, Value());
  for (const auto& [name, bound] : {std::pair("min", low), std::pair("max", high)}) {
    if (!bound || n.has_failed()) continue;
    const DimExpr count = n.type(bound).getElementCount();
    if (n.dtype(bound) != n.dtype(x) || (count.is_constant() && !count.is_constant(1)))
      return n.fail(llvm::Twine(name) + " is " + text_of(n.type(bound)) + ", expected one " +
                    llvm::Twine(scopevm::name(n.dtype(x))));
  }
  return clamp(n, x, low, high);
}

// --- Activations. -------------------------------------------------------------------------------

// x < 0 ? negative : x
Formula below_zero(const Formula& x, const Formula& negative) {
  return select(x < 0.0, negative, x);
}

Formula exp_minus_one(const Formula& x) { return exp(x) + -1.0; }

Values leaky_relu(Node& n) {
  Formula x(n, n.input(0));
  return below_zero(x, x * n.number("alpha", 0.01f));
}

Values prelu(Node& n) {
  Formula x(n, n.input(0));
  return below_zero(x, x * Formula(n, n.input(1)));
}

// Before opset 7, the slope has one number per channel, or a single number.
Values old_prelu(Node& n) {
  Formula x(n, n.input(0)), slope(n, n.input(1));
  Dims dims(slope.shape());
  if (dims.size() == 1 && !dims[0].is_constant(1) && x.rank() > 2)
    dims.append(static_cast<size_t>(x.rank() - 2), DimExpr(1));
  return below_zero(x, x * slope.reshape(dims));
}

Values elu(Node& n) {
  Formula x(n, n.input(0));
  return below_zero(x, exp_minus_one(x) * n.number("alpha", 1));
}

Values celu(Node& n) {
  Formula x(n, n.input(0));
  float alpha = n.number("alpha", 1);
  return below_zero(x, exp_minus_one(x * (1.0 / alpha)) * alpha);
}

Values selu(Node& n) {
  Formula x(n, n.input(0));
  float alpha = n.number("alpha", 1.67326319217681884765625f);
  Formula scaled = below_zero(x, exp_minus_one(x) * alpha);
  return scaled * n.number("gamma", 1.05070102214813232421875f);
}

Formula hard_sigmoid(const Formula& x, float alpha, float beta) {
  Formula y = x * alpha + beta, zero = x.scalar(0), one = x.scalar(1);
  return min(max(y, zero), one);
}

Values hard_sigmoid(Node& n) {
  return hard_sigmoid(Formula(n, n.input(0)), n.number("alpha", 0.2f), n.number("beta", 0.5f));
}

Values hard_swish(Node& n) {
  Formula x(n, n.input(0));
  return x * hard_sigmoid(x, 1.0f / 6, 0.5f);
}

Values thresholded_relu(Node& n) {
  Formula x(n, n.input(0));
  return select(x > n.number("alpha", 1), x, 0.0);
}

Values softsign(Node& n) {
  Formula x(n, n.input(0));
  return x / (abs(x) + 1.0);
}

Formula swish(const Formula& x, float alpha) { return x * (x * alpha).unary<SigmoidOp>(); }

Values swish(Node& n) { return swish(Formula(n, n.input(0)), n.number("alpha", 1)); }

// Swish of the gate, times the other operand. The operands do not broadcast.
Values swiglu(Node& n) {
  Formula a(n, n.input(0)), b(n, n.input(1));
  if (n.has_failed()) return Value();
  if (a.rank() != b.rank())
    return n.fail("A is " + text_of(n.type(a)) + ", but B is " + text_of(n.type(b)));
  for (int64_t axis = 0; axis < a.rank(); ++axis)
    n.require_equal(n.dim(a, axis), n.dim(b, axis), "a dim of A is {0}, but that of B is {1}");
  return swish(a, n.number("alpha", 1)) * b;
}

Values mish(Node& n) {
  Formula x(n, n.input(0));
  return x * tanh(x.unary<SoftplusOp>());
}

Values gelu(Node& n) {
  Formula x(n, n.input(0));
  std::string approximate = n.text("approximate", "none");
  if (approximate == "none") return gelu(x).as(x.dtype());
  if (approximate == "tanh") return gelu_by_tanh(x).as(x.dtype());
  return n.fail("approximate is " + runtime::quoted(approximate) + ", expected none or tanh");
}

// x < -lambd ? x + bias : x > lambd ? x - bias : 0
Values shrink(Node& n) {
  Formula x(n, n.input(0));
  const DType dtype = x.dtype();
  // Both numbers can be fractions, also for integers.
  if (!is_float(dtype)) x = x.as(DType::kF64);
  float bias = n.number("bias", 0), lambd = n.number("lambd", 0.5f);
  Formula above = select(x > lambd, x + -bias, 0.0);
  return select(x < -lambd, x + bias, above).as(dtype);
}

}  // namespace

const OpRows kElementwiseOps = {
    {"Abs", 1, unary<AbsOp>},
    {"Acos", 1, unary<AcosOp>},
    {"Acosh", 1, unary<AcoshOp>},
    {"Add", 1, old_binary<AddOp>},
    {"Add", 7, binary<AddOp>},
    {"And", 1, old_binary<AndOp>},
    {"And", 7, binary<AndOp>},
    {"Asin", 1, unary<AsinOp>},
    {"Asinh", 1, unary<AsinhOp>},
    {"Atan", 1, unary<AtanOp>},
    {"Atanh", 1, unary<AtanhOp>},
    {"BitCast", 26, bit_cast, OpSignature{"input", "to"}},
    {"BitShift", 11, bit_shift},
    {"BitwiseAnd", 18, binary<BitAndOp>, OpSignature{"A B", ""}},
    {"BitwiseNot", 18, unary<BitNotOp>, OpSignature{"X", ""}},
    {"BitwiseOr", 18, binary<BitOrOp>, OpSignature{"A B", ""}},
    {"BitwiseXor", 18, binary<BitXorOp>, OpSignature{"A B", ""}},
    {"Cast", 6, cast},
    {"Cast", 19, cast, OpSignature{"input", "saturate to"}},
    {"Cast", 24, cast, OpSignature{"input", "round_mode saturate to"}},
    {"CastLike", 15, cast_like},
    {"CastLike", 19, cast_like, OpSignature{"input target_type", "saturate"}},
    {"CastLike", 24, cast_like, OpSignature{"input target_type", "round_mode saturate"}},
    {"Ceil", 1, unary<CeilOp>},
    {"Celu", 12, celu},
    {"Clip", 1, clip_with_attributes},
    {"Clip", 11, clip},
    {"Cos", 1, unary<CosOp>},
    {"Cosh", 1, unary<CoshOp>},
    {"Div", 1, old_binary<DivOp>},
    {"Div", 7, binary<DivOp>},
    {"Elu", 1, elu},
    {"Equal", 1, old_binary<EqualOp>},
    {"Equal", 7, binary<EqualOp>},
    {"Erf", 1, unary<ErfOp>},
    {"Exp", 1, unary<ExpOp>},
    {"Floor", 1, unary<FloorOp>},
    {"Gelu", 20, gelu, OpSignature{"X", "approximate"}},
    {"Greater", 1, old_binary<GreaterOp>},
    {"Greater", 7, binary<GreaterOp>},
    {"GreaterOrEqual", 12, binary<GreaterEqualOp>},
    {"HardSigmoid", 1, hard_sigmoid},
    {"HardSwish", 14, hard_swish},
    {"IsInf", 1, is_inf},
    {"IsNaN", 1, unary<IsNanOp>},
    {"LeakyRelu", 1, leaky_relu},
    {"Less", 1, old_binary<LessOp>},
    {"Less", 7, binary<LessOp>},
    {"LessOrEqual", 12, binary<LessEqualOp>},
    {"Log", 1, unary<LogOp>},
    {"Max", 1, variadic<MaxOp>},
    {"Mean", 1, mean},
    {"Min", 1, variadic<MinOp>},
    {"Mish", 18, mish, OpSignature{"X", ""}},
    {"Mod", 1, modulo},
    {"Mul", 1, old_binary<MulOp>},
    {"Mul", 7, binary<MulOp>},
    {"Neg", 1, unary<NegOp>},
    {"Not", 1, unary<LogicalNotOp>},
    {"Or", 1, old_binary<OrOp>},
    {"Or", 7, binary<OrOp>},
    {"PRelu", 1, old_prelu},
    {"PRelu", 7, prelu},
    {"Pow", 1, old_binary<PowOp>},
    {"Pow", 7, binary<PowOp>},
    {"Reciprocal", 1, unary<ReciprocalOp>},
    {"Relu", 1, unary<ReluOp>},
    {"Round", 1, unary<RoundOp>},
    {"Selu", 1, selu},
    {"Shrink", 1, shrink},
    {"Sigmoid", 1, unary<SigmoidOp>},
    {"Sign", 1, unary<SignOp>},
    {"Sin", 1, unary<SinOp>},
    {"Sinh", 1, unary<SinhOp>},
    {"Softplus", 1, unary<SoftplusOp>},
    {"Softsign", 1, softsign},
    {"Sqrt", 1, unary<SqrtOp>},
    {"Sub", 1, old_binary<SubOp>},
    {"Sub", 7, binary<SubOp>},
    {"Sum", 1, variadic<AddOp>},
    {"SwiGLU", 28, swiglu, OpSignature{"A B", "alpha"}},
    {"Swish", 24, swish, OpSignature{"X", "alpha"}},
    {"Tan", 1, unary<TanOp>},
    {"Tanh", 1, unary<TanhOp>},
    {"ThresholdedRelu", 1, thresholded_relu},
    {"Where", 9, where},
    {"Xor", 1, old_binary<XorOp>},
    {"Xor", 7, binary<XorOp>},
};

}  // namespace scopevm::compiler::frontend

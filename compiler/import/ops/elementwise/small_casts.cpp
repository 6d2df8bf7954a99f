// Conversions to small element types; see small_casts.h.
#include "compiler/import/ops/elementwise/small_casts.h"

#include <cmath>
#include <limits>

#include "compiler/import/node/formula.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

constexpr int kMantissaBits = 23;  // of f32
constexpr int kBias = 127;

Formula bits_of(const Formula& x, DType to) {
  const std::string_view type = name(to);
  Node& n = x.node();
  return {n, n.emit<BitCastOp>({x}, {n.attr("to", llvm::StringRef(type.data(), type.size()))})};
}

Formula shifted_right(const Formula& x, double count) {
  return x.binary<ShiftRightOp>(x.scalar(count));
}

Formula shifted_left(const Formula& x, double count) {
  return x.binary<ShiftLeftOp>(x.scalar(count));
}

// x: i32. Keeps the low bits.
Formula wrapped(const Formula& x, const SmallType& to) {
  Formula low = x.binary<BitAndOp>(x.scalar(static_cast<double>((1 << to.bits) - 1)));
  if (!to.is_signed) return low;
  return select(low <= static_cast<double>(to.greatest()), low,
                low - static_cast<double>(1 << to.bits));
}

// The magnitude of x, rounded to the numbers of a float type whose exponent has no upper limit.
// Adjacent numbers differ by 2^(exponent - mantissa_bits).
Formula rounded_magnitude(const Formula& x, const SmallType& to) {
  Formula exponent = shifted_right(bits_of(abs(x), DType::kU32), kMantissaBits);
  exponent = max(exponent, static_cast<double>(to.least_exponent() + kBias));
  Formula unit = bits_of(
      shifted_left(exponent - static_cast<double>(to.mantissa_bits), kMantissaBits), DType::kF32);
  return round_to_even(abs(x) / unit) * unit;
}

// x: f32.
Formula small_float(const Formula& x, const SmallType& to, bool saturates) {
  using Specials = SmallType::Specials;
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const bool has_nan = to.specials != Specials::kNone;
  Formula magnitude = rounded_magnitude(x, to);
  const double above = saturates || !has_nan ? to.largest
                       : to.specials == Specials::kInfinite
                           ? std::numeric_limits<double>::infinity()
                           : kNan;
  // The negated comparison is also true for the NaN that an infinity becomes.
  magnitude = select(magnitude <= to.largest, magnitude, above);
  Formula result = magnitude;
  if (to.specials == Specials::kUnsignedNan) {
    result = select(x < 0.0, 0.0 - magnitude, magnitude) + 0.0;
  } else {
    Formula bits = bits_of(x, DType::kU32);
    Formula sign = bits.binary<BitAndOp>(bits.scalar(2147483648.0));
    result = bits_of(bits_of(magnitude, DType::kU32).binary<BitOrOp>(sign), DType::kF32);
  }
  Formula is_nan(x.node(), x.node().emit<IsNanOp>({x}));
  // The test data of ONNX has -0 for a NaN that the type does not have.
  return select(is_nan, result.scalar(has_nan ? kNan : -0.0), result).as(to.carrier);
}

// x: f32. The sign is ignored.
Formula power_of_two(const Formula& x, const SmallType& to, const SmallCast& how) {
  Formula bits = bits_of(abs(x), DType::kU32);
  Formula exponent = shifted_right(bits, kMantissaBits);
  Formula fraction = bits.binary<BitAndOp>(bits.scalar((1 << kMantissaBits) - 1));
  const double half = 1 << (kMantissaBits - 1);
  const double first = how.rounding == "up" ? 1 : half;
  if (how.rounding != "down") exponent = select(fraction < first, exponent, exponent + 1.0);
  if (how.saturates) exponent = min(exponent, 254.0);
  // 2^-127 is a subnormal f32, whose fraction is one half.
  Formula pattern =
      select(exponent == 0.0, bits.scalar(half), shifted_left(exponent, kMantissaBits));
  Formula result = select(exponent < 255.0, bits_of(pattern, DType::kF32),
                          std::numeric_limits<double>::quiet_NaN());
  Formula is_nan(x.node(), x.node().emit<IsNanOp>({x}));
  return select(is_nan, x, result).as(to.carrier);
}

}  // namespace

Value cast_to_small(Node& n, Value x, const SmallType& to, const SmallCast& how) {
  if (n.has_failed()) return {};
  if (how.rounding != "up" && how.rounding != "down" && how.rounding != "nearest")
    return n.fail("round_mode is \"" + how.rounding + "\", expected up, down or nearest");
  if (n.dtype(x) == DType::kStr) x = n.cast(x, DType::kF32);
  if (to.kind == SmallType::Kind::kInteger) {
    if (is_float(n.dtype(x))) x = n.emit<RoundOp>({x});
    return wrapped(Formula(n, x).as(DType::kI32), to).as(to.carrier);
  }
  const Formula wide = Formula(n, x).as(DType::kF32);
  return to.kind == SmallType::Kind::kExponent ? power_of_two(wide, to, how)
                                               : small_float(wide, to, how.saturates);
}

Value quantise_to_small(Node& n, Value x, const SmallType& to, bool saturates) {
  if (n.has_failed()) return {};
  const Formula wide(n, x);
  if (to.kind == SmallType::Kind::kInteger) {
    const Formula inside =
        max(min(wide, static_cast<double>(to.greatest())), static_cast<double>(to.least()));
    return inside.as(to.carrier);
  }
  return small_float(wide, to, saturates);
}

}  // namespace scopevm::compiler::frontend

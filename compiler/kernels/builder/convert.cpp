// Conversions between element types: storage to arithmetic and back, and the cast op. Arithmetic on
// f16 and bf16 uses f32. bf16 is converted with integer arithmetic. f16 is converted with
// instructions. For targets without such instructions, compiler/codegen/backend/half_patterns.cpp
// replaces them by integer arithmetic.
#include "compiler/kernels/builder/convert.h"

#include <cmath>

namespace scopevm::compiler::kernels {
namespace {

namespace arith = mlir::arith;

template <typename Op>
Term convert(Term x, mlir::Type element) {
  return x.with(x.builder->create<Op>(x.location, x.like(element), x.value));
}

Term resize_integer(Term x, mlir::Type element, bool is_unsigned) {
  unsigned from = x.element().getIntOrFloatBitWidth(), to = element.getIntOrFloatBitWidth();
  if (from == to) return x;
  if (from > to) return convert<arith::TruncIOp>(x, element);
  return is_unsigned ? convert<arith::ExtUIOp>(x, element) : convert<arith::ExtSIOp>(x, element);
}

Term bf16_to_f32(Term stored) {
  mlir::Builder& b = *stored.builder;
  Term bits = convert<arith::ExtUIOp>(stored, b.getI32Type());
  return bitcast(shift_left(bits, 16), b.getF32Type());
}

// Rounds to nearest even. A NaN keeps its sign and becomes quiet.
Term f32_to_bf16(Term x) {
  mlir::Builder& b = *x.builder;
  Term bits = bitcast(x, b.getI32Type());
  Term odd = shift_right(bits, 16) & bits.integer(1);
  Term rounded = shift_right(bits + bits.integer(0x7FFF) + odd, 16);
  Term quiet = shift_right(bits, 16) | bits.integer(0x40);
  Term chosen = select(is_nan(x), quiet, rounded);
  return convert<arith::TruncIOp>(chosen, b.getI16Type());
}

Term f16_to_f32(Term stored) {
  mlir::Builder& b = *stored.builder;
  return convert<arith::ExtFOp>(bitcast(stored, b.getF16Type()), b.getF32Type());
}

Term f32_to_f16(Term x) {
  mlir::Builder& b = *x.builder;
  return bitcast(convert<arith::TruncFOp>(x, b.getF16Type()), b.getI16Type());
}

// The same for an integer type of at most 16 bits, whose numbers every f32 and f64 represents.
Term float_to_short(Term x, mlir::Type element, bool is_unsigned) {
  const int bits = static_cast<int>(element.getIntOrFloatBitWidth());
  const double low = is_unsigned ? 0 : -std::ldexp(1.0, bits - 1);
  const double high = std::ldexp(1.0, is_unsigned ? bits : bits - 1) - 1;
  // The maximum of NaN and a number is the number: 0 for unsigned types.
  if (!is_unsigned) x = select(is_nan(x), x.number(0.0), x);
  const Term limited =
      x.make<arith::MinNumFOp>(x.make<arith::MaxNumFOp>(x, x.number(low)), x.number(high));
  const mlir::Type wide = x.builder->getI32Type();
  return convert<arith::TruncIOp>(convert<arith::FPToSIOp>(limited, wide), element);
}

// Rounds towards zero and saturates; NaN becomes 0.
Term float_to_integer(Term x, mlir::Type element, bool is_unsigned) {
  int bits = static_cast<int>(element.getIntOrFloatBitWidth());
  if (bits <= 16) return float_to_short(x, element, is_unsigned);
  double low = is_unsigned ? 0.0 : -std::ldexp(1.0, bits - 1);
  // The bounds are powers of two, which every float type represents exactly. The largest integer
  // may have no exact representation, so `end` is the power of two after it.
  double end = std::ldexp(1.0, is_unsigned ? bits : bits - 1);
  Term too_high = end <= x;
  Term too_low = x < low;
  // In LLVM, the conversion of a value out of range is poison. Such values are therefore replaced
  // by 0 before the conversion, and their results are selected after it.
  Term outside = too_high | too_low | is_nan(x);
  Term inside = select(outside, x.number(0.0), x);
  Term result = is_unsigned ? convert<arith::FPToUIOp>(inside, element)
                            : convert<arith::FPToSIOp>(inside, element);
  int64_t highest = is_unsigned ? -1 : static_cast<int64_t>((~uint64_t{0}) >> (65 - bits));
  int64_t lowest = is_unsigned ? 0 : -highest - 1;
  result = select(too_high, result.integer(highest), result);
  return select(too_low, result.integer(lowest), result);
}

// Rounds to odd: a value that f32 cannot represent becomes that of its two neighbours whose last
// bit is 1. A second rounding, to a narrower type, then gives the same result as one rounding of x.
// Source: Boldo and Melquiond, "When double rounding is odd".
Term f64_to_f32_odd(Term x) {
  mlir::Builder& b = *x.builder;
  Term nearest = convert<arith::TruncFOp>(x, b.getF32Type());
  Term back = convert<arith::ExtFOp>(nearest, b.getF64Type());
  Term bits = bitcast(nearest, b.getI32Type());
  // The float before `nearest` has the bits minus 1, for both signs.
  Term is_away = select(x < 0.0, back < x, x < back);
  Term odd = select(is_away, bits - 1, bits) | bits.integer(1);
  Term is_exact = (back == x) | is_nan(x);
  return bitcast(select(is_exact, bits, odd), b.getF32Type());
}

// Rounds an integer to odd, to at least 11 and at most 24 significant bits. f32 represents the
// result, and a second rounding, to bf16, gives the same result as one rounding of x.
Term integer_to_odd(Term x, bool is_unsigned) {
  const int width = static_cast<int>(x.element().getIntOrFloatBitWidth());
  for (int low = 14; low + 10 < width; low += 14) {
    Term limit = x.integer(int64_t{1} << (low + 10)), last = x.integer(int64_t{1} << low);
    Term is_large =
        is_unsigned ? less_equal(limit, x, true) : less_equal(limit + limit, x + limit, true);
    Term is_inexact = (x & (last - 1)) != 0;
    Term odd = (x & (x.integer(0) - last)) | last;
    x = select(is_large & is_inexact, odd, x);
  }
  return x;
}

Term float_to_float(Term x, mlir::Type element) {
  unsigned from = x.element().getIntOrFloatBitWidth(), to = element.getIntOrFloatBitWidth();
  if (from == to) return x;
  return from < to ? convert<arith::ExtFOp>(x, element) : convert<arith::TruncFOp>(x, element);
}

}  // namespace

mlir::Type arithmetic_type(mlir::MLIRContext* context, DType dtype) {
  if (dtype == DType::kBool) return mlir::IntegerType::get(context, 1);
  if (dtype == DType::kF16 || dtype == DType::kBF16) return mlir::Float32Type::get(context);
  return storage_type(context, dtype);
}

Term cast(Term x, DType from, DType to) {
  mlir::Type element = arithmetic_type(x.builder->getContext(), to);
  if (to == DType::kBool) {
    if (from == DType::kBool) return x;
    return x != 0.0;
  }
  if (!x.is_float() && !mlir::isa<mlir::FloatType>(element))
    return resize_integer(x, element, is_unsigned(from));
  if (!x.is_float() && to == DType::kBF16) x = integer_to_odd(x, is_unsigned(from));
  if (!x.is_float())
    x = is_unsigned(from) ? convert<arith::UIToFPOp>(x, element)
                          : convert<arith::SIToFPOp>(x, element);
  else if (!mlir::isa<mlir::FloatType>(element))
    return float_to_integer(x, element, is_unsigned(to));
  else if (from == DType::kF64 && (to == DType::kF16 || to == DType::kBF16))
    x = f64_to_f32_odd(x);
  else
    x = float_to_float(x, element);
  // The arithmetic type is f32, but the value must have the precision of the narrow type, because a
  // consumer in the same kernel can use it without a store.
  if (to == DType::kF16) return f16_to_f32(f32_to_f16(x));
  if (to == DType::kBF16) return bf16_to_f32(f32_to_bf16(x));
  return x;
}

mlir::Value load_convert(mlir::OpBuilder& builder, mlir::Location location, DType dtype,
                         mlir::Value stored) {
  Term x(builder, location, stored);
  if (dtype == DType::kBool) return (x != 0).value;
  if (dtype == DType::kBF16) return bf16_to_f32(x).value;
  if (dtype == DType::kF16) return f16_to_f32(x).value;
  return stored;
}

mlir::Value store_convert(mlir::OpBuilder& builder, mlir::Location location, DType dtype,
                          mlir::Value value) {
  Term x(builder, location, value);
  if (dtype == DType::kBool) return convert<arith::ExtUIOp>(x, builder.getI8Type()).value;
  if (dtype == DType::kBF16) return f32_to_bf16(x).value;
  if (dtype == DType::kF16) return f32_to_f16(x).value;
  return value;
}

}  // namespace scopevm::compiler::kernels

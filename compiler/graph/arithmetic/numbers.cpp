// Primitive operations on numbers. Integer results are identical to those of the kernels
// (compiler/kernels/elementwise). Functions of f32 are more precise here, because they are computed
// in f64.
#include "compiler/graph/arithmetic/numbers.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace scopevm::compiler::graph {
namespace {

using Payload = Arithmetic::Payload;

// The integer of type `dtype` that the low bits of `value` represent.
int64_t wrapped(DType dtype, uint64_t value) {
  const int64_t bits = dtype == DType::kBool ? 1 : 8 * byte_size(dtype);
  const int unused = static_cast<int>(64 - bits);
  const uint64_t high = value << unused;
  return is_unsigned(dtype) ? static_cast<int64_t>(high >> unused)
                            : static_cast<int64_t>(high) >> unused;
}

// Clamps to the range of an integer type.
int64_t clamped(DType dtype, int64_t value) {
  const int64_t bits = 8 * byte_size(dtype);
  if (bits == 64) return is_unsigned(dtype) ? std::max<int64_t>(value, 0) : value;
  const int64_t low = is_unsigned(dtype) ? 0 : -(int64_t{1} << (bits - 1));
  return std::clamp(value, low, low + (int64_t{1} << bits) - 1);
}

Payload real_function(UnaryFunction function, double x) {
  switch (function) {
    case UnaryFunction::kAbs:
      return std::fabs(x);
    case UnaryFunction::kNeg:
      return -x;
    case UnaryFunction::kExp:
      return std::exp(x);
    case UnaryFunction::kLog:
      return std::log(x);
    case UnaryFunction::kSqrt:
      return std::sqrt(x);
    case UnaryFunction::kSin:
      return std::sin(x);
    case UnaryFunction::kCos:
      return std::cos(x);
    case UnaryFunction::kTan:
      return std::tan(x);
    case UnaryFunction::kAsin:
      return std::asin(x);
    case UnaryFunction::kAcos:
      return std::acos(x);
    case UnaryFunction::kAtan:
      return std::atan(x);
    case UnaryFunction::kSinh:
      return std::sinh(x);
    case UnaryFunction::kCosh:
      return std::cosh(x);
    case UnaryFunction::kTanh:
      return std::tanh(x);
    case UnaryFunction::kAsinh:
      return std::asinh(x);
    case UnaryFunction::kAcosh:
      return std::acosh(x);
    case UnaryFunction::kAtanh:
      return std::atanh(x);
    case UnaryFunction::kErf:
      return std::erf(x);
    case UnaryFunction::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryFunction::kCeil:
      return std::ceil(x);
    case UnaryFunction::kFloor:
      return std::floor(x);
    case UnaryFunction::kRound:
      // Ties to even, as ONNX Round requires.
      return std::nearbyint(x);
    case UnaryFunction::kNot:
    case UnaryFunction::kIsNan:
      break;
  }
  return {};  // kNot is for integers; kIsNan has no float result
}

Payload integer_function(UnaryFunction function, DType dtype, int64_t x) {
  const auto bits = static_cast<uint64_t>(x);
  switch (function) {
    case UnaryFunction::kAbs:
      return is_unsigned(dtype) || x >= 0 ? x : wrapped(dtype, 0 - bits);
    case UnaryFunction::kNeg:
      return wrapped(dtype, 0 - bits);
    case UnaryFunction::kNot:
      return wrapped(dtype, ~bits);
    case UnaryFunction::kCeil:
    case UnaryFunction::kFloor:
    case UnaryFunction::kRound:
      return x;
    default:
      return {};  // float functions
  }
}

double real_modulo(double a, double b) {
  const double r = std::fmod(a, b);
  // The result has the sign of the divisor, like Python's %; fmod has the sign of the dividend.
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Payload real_function(BinaryFunction function, double a, double b) {
  switch (function) {
    case BinaryFunction::kAdd:
      return a + b;
    case BinaryFunction::kSub:
      return a - b;
    case BinaryFunction::kMul:
      return a * b;
    case BinaryFunction::kDiv:
      return a / b;
    case BinaryFunction::kModulo:
      return real_modulo(a, b);
    case BinaryFunction::kRemainder:
      return std::fmod(a, b);
    case BinaryFunction::kPower:
      return std::pow(a, b);
    case BinaryFunction::kMin:
      // NaN of either operand propagates, as in NumPy's minimum.
      return b < a || std::isnan(b) ? b : a;
    case BinaryFunction::kMax:
      return a < b || std::isnan(b) ? b : a;
    case BinaryFunction::kEqual:
      return int64_t{a == b};
    case BinaryFunction::kLess:
      return int64_t{a < b};
    case BinaryFunction::kLessEqual:
      return int64_t{a <= b};
    case BinaryFunction::kAnd:
    case BinaryFunction::kOr:
    case BinaryFunction::kXor:
    case BinaryFunction::kShiftLeft:
    case BinaryFunction::kShiftRight:
      break;
  }
  return {};  // integer functions
}

int64_t quotient(DType dtype, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (is_unsigned(dtype))
    return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  // The least integer divided by -1 is undefined in C++; the kernels wrap.
  return b == -1 ? wrapped(dtype, 0 - static_cast<uint64_t>(a)) : a / b;
}

int64_t remainder(DType dtype, int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && !is_unsigned(dtype))) return 0;
  if (is_unsigned(dtype))
    return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  return a % b;
}

int64_t modulo(DType dtype, int64_t a, int64_t b) {
  const int64_t r = remainder(dtype, a, b);
  return !is_unsigned(dtype) && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

bool is_less(DType dtype, int64_t a, int64_t b) {
  return is_unsigned(dtype) ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

Payload integer_function(BinaryFunction function, DType dtype, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const auto width = static_cast<uint64_t>(8 * byte_size(dtype));
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  switch (function) {
    case BinaryFunction::kAdd:
      return wrapped(dtype, x + y);
    case BinaryFunction::kSub:
      return wrapped(dtype, x - y);
    case BinaryFunction::kMul:
      return wrapped(dtype, x * y);
    case BinaryFunction::kDiv:
      return quotient(dtype, a, b);
    case BinaryFunction::kModulo:
      return modulo(dtype, a, b);
    case BinaryFunction::kRemainder:
      return remainder(dtype, a, b);
    case BinaryFunction::kPower:
      return {};  // rare: left to the kernel
    case BinaryFunction::kMin:
      return is_less(dtype, b, a) ? b : a;
    case BinaryFunction::kMax:
      return is_less(dtype, a, b) ? b : a;
    case BinaryFunction::kAnd:
      return a & b;
    case BinaryFunction::kOr:
      return a | b;
    case BinaryFunction::kXor:
      return a ^ b;
    case BinaryFunction::kShiftLeft:
      return y < width ? wrapped(dtype, x << y) : 0;
    case BinaryFunction::kShiftRight:
      return y < width ? wrapped(dtype, (x & mask) >> y) : 0;  // fills with zeros
    case BinaryFunction::kEqual:
      return int64_t{a == b};
    case BinaryFunction::kLess:
      return int64_t{is_less(dtype, a, b)};
    case BinaryFunction::kLessEqual:
      return int64_t{!is_less(dtype, b, a)};
  }
  return {};
}

// An integer as a float, rounded once.
template <typename Integer>
Payload rounded(DType to, Integer value) {
  if (to == DType::kF64) return static_cast<double>(value);
  if (to == DType::kF32) return static_cast<double>(static_cast<float>(value));
  // A narrower type is rounded later, from the double. Another rounding here could change the
  // result, so the double must represent the integer exactly.
  constexpr auto kLargestExact = Integer{1} << 53;
  const bool is_exact =
      value <= kLargestExact && (!std::is_signed_v<Integer> || value >= Integer{0} - kLargestExact);
  return is_exact ? Payload(static_cast<double>(value)) : Payload();
}

}  // namespace

Payload NumberArithmetic::literal(const Scalar&, DType dtype, double value) {
  if (is_float(dtype)) return value;
  return static_cast<int64_t>(value);
}

Payload NumberArithmetic::apply(UnaryFunction function, const Scalar& x) {
  if (!x.is_known()) return {};
  if (function == UnaryFunction::kIsNan)
    return int64_t{is_float(x.dtype()) && std::isnan(x.get<double>())};
  if (is_float(x.dtype())) return real_function(function, x.get<double>());
  return integer_function(function, x.dtype(), x.get<int64_t>());
}

Payload NumberArithmetic::apply(BinaryFunction function, const Scalar& a, const Scalar& b) {
  if (!a.is_known() || !b.is_known()) return {};
  if (is_float(a.dtype()) && is_float(b.dtype()))
    return real_function(function, a.get<double>(), b.get<double>());
  // kPower may have operands of different types.
  if (is_float(a.dtype()))
    return real_function(function, a.get<double>(), static_cast<double>(b.get<int64_t>()));
  if (is_float(b.dtype())) return {};
  return integer_function(function, a.dtype(), a.get<int64_t>(), b.get<int64_t>());
}

Payload NumberArithmetic::select(const Scalar& condition, const Scalar& a, const Scalar& b) {
  if (!condition.is_known()) return {};
  return condition.get<int64_t>() != 0 ? a.payload() : b.payload();
}

Payload NumberArithmetic::cast(const Scalar& x, DType to) {
  constexpr double kLargest = 0x1p62;  // above the range of every type narrower than 64 bits
  if (!x.is_known()) return {};
  if (!is_float(x.dtype())) {
    const int64_t value = x.get<int64_t>();
    if (to == DType::kBool) return int64_t{value != 0};
    if (!is_float(to)) return wrapped(to, static_cast<uint64_t>(value));
    return x.dtype() == DType::kU64 ? rounded(to, static_cast<uint64_t>(value))
                                    : rounded(to, value);
  }
  const double value = x.get<double>();
  if (is_float(to)) return value;
  if (to == DType::kBool) return int64_t{value != 0};
  // Negated, so that NaN is rejected as well.
  if (!(std::fabs(value) < kLargest)) return {};
  return clamped(to, static_cast<int64_t>(std::trunc(value)));
}

}  // namespace scopevm::compiler::graph

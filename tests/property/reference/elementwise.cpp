// Elementwise ops of the reference: one scalar function per op, on numbers with error bounds.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "compiler/graph/graph_ops.h"
#include "tests/property/reference/reference.h"

namespace scopevm::compiler::property {
namespace {

using Function = long double (*)(long double);
using Unary = Number (*)(DType, const Number&);
using Binary = Number (*)(DType, const Number&, const Number&);

// The error, in units in the last place, of functions that kernels approximate.
constexpr double kApproximate = 8;

Number truth(bool value) { return {value ? 1.0L : 0.0L, 0}; }

// An upper bound of |f(t) - f(x.value)| for t within the error of x; kUnknown if it is not finite.
// REQUIRES: f is monotone or convex on this interval, so that the maximum is at one of its ends.
double spread(const Number& x, Function f) {
  if (x.is_exact()) return 0;
  const long double at = f(x.value);
  const long double below = std::fabs(f(x.value - x.error) - at);
  const long double above = std::fabs(f(x.value + x.error) - at);
  // std::max() would return the other operand for a NaN, as of atanh() above 1.
  if (!std::isfinite(below) || !std::isfinite(above)) return kUnknown;
  return static_cast<double>(std::max(below, above)) * 1.001;
}

template <Function f>
Number approximate(DType dtype, const Number& x) {
  return result_of(dtype, f(x.value), spread(x, f), kApproximate);
}
// For sin and cos, which are neither monotone nor convex. Their slope is at most 1, and two values
// differ by at most 2.
template <Function f>
Number wave(DType dtype, const Number& x) {
  return result_of(dtype, f(x.value), std::min(x.error, 2.0), kApproximate);
}
// For functions whose exact result the type can represent.
template <Function f>
Number exact(DType dtype, const Number& x) {
  if (!is_float(dtype)) return wrapped(dtype, static_cast<__int128>(f(x.value)));
  double error = spread(x, f);
  if (error == 0 && !x.is_exact()) return {f(x.value), 0};
  return error == kUnknown ? kAnything : Number{f(x.value), error};
}

Number reciprocal(DType dtype, const Number& x) {
  long double least = std::fabs(x.value) - x.error;
  if (!(least > 0)) return kAnything;  // 1/0 has the sign of the zero, which is not tracked
  return result_of(dtype, 1 / x.value, static_cast<double>(x.error / (least * least)),
                   1 / least > 0x1p120L ? kUnknown : 2);
}
Number tangent(DType dtype, const Number& x) {
  if (std::cos(x.value - x.error) * std::cos(x.value + x.error) <= 0 || x.error > 1)
    return kAnything;
  return approximate<std::tan>(dtype, x);
}
long double sign_of(long double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
long double relu_of(long double x) { return x < 0 ? 0 : x; }
long double sigmoid_of(long double x) { return 1 / (1 + std::exp(-x)); }
long double softplus_of(long double x) {
  return std::max(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
}
long double negative_of(long double x) { return -x; }
long double same(long double x) { return x; }

Number sign(DType dtype, const Number& x) {
  return std::isnan(x.value) ? kAnything : exact<sign_of>(dtype, x);
}
Number logical_not(DType, const Number& x) { return truth(x.value == 0); }
Number bit_not(DType dtype, const Number& x) {
  return wrapped(dtype, ~static_cast<__int128>(x.value));
}
template <Function f>
Number to_integer(DType dtype, const Number& x) {
  return is_float(dtype) ? exact<f>(dtype, x) : exact<same>(dtype, x);
}

const std::unordered_map<std::string, Unary>& unary_functions() {
  static const std::unordered_map<std::string, Unary> kFunctions = {
      {"abs", exact<std::fabs>},
      {"neg", exact<negative_of>},
      {"exp", approximate<std::exp>},
      {"log", approximate<std::log>},
      {"sqrt", approximate<std::sqrt>},
      {"reciprocal", reciprocal},
      {"sin", wave<std::sin>},
      {"cos", wave<std::cos>},
      {"tan", tangent},
      {"asin", approximate<std::asin>},
      {"acos", approximate<std::acos>},
      {"atan", approximate<std::atan>},
      {"sinh", approximate<std::sinh>},
      {"cosh", approximate<std::cosh>},
      {"tanh", approximate<std::tanh>},
      {"asinh", approximate<std::asinh>},
      {"acosh", approximate<std::acosh>},
      {"atanh", approximate<std::atanh>},
      {"erf", approximate<std::erf>},
      {"ceil", to_integer<std::ceil>},
      {"floor", to_integer<std::floor>},
      {"round", to_integer<std::nearbyint>},
      {"sign", sign},
      {"sigmoid", approximate<sigmoid_of>},
      {"relu", exact<relu_of>},
      {"log1p", approximate<std::log1p>},
      {"softplus", approximate<softplus_of>},
      {"not", logical_not},
      {"bit_not", bit_not},
  };
  return kFunctions;
}

// --- Two operands. -------------------------------------------------------------------------------

__int128 whole(const Number& x) { return static_cast<__int128>(x.value); }

Number add(DType dtype, const Number& a, const Number& b) {
  if (!is_float(dtype)) return wrapped(dtype, whole(a) + whole(b));
  return result_of(dtype, a.value + b.value, a.error + b.error);
}
Number subtract(DType dtype, const Number& a, const Number& b) {
  if (!is_float(dtype)) return wrapped(dtype, whole(a) - whole(b));
  return result_of(dtype, a.value - b.value, a.error + b.error);
}
// The error of a product from the errors of its factors.
double product_error(const Number& a, const Number& b) {
  if (a.is_exact() && b.is_exact()) return 0;
  return static_cast<double>(std::fabs(a.value) * b.error + std::fabs(b.value) * a.error +
                             static_cast<long double>(a.error) * b.error);
}
Number multiply(DType dtype, const Number& a, const Number& b) {
  if (!is_float(dtype)) return wrapped(dtype, whole(a) * whole(b));
  long double value = a.value * b.value;
  // A product of two f64 has up to 106 significant bits; long double has 64.
  bool is_rounded = dtype == DType::kF64 && std::fma(a.value, b.value, -value) != 0;
  return result_of(dtype, value, product_error(a, b), is_rounded ? 1 : 0);
}
Number divide(DType dtype, const Number& a, const Number& b) {
  if (!is_float(dtype)) {
    if (b.value == 0) return {0, 0};
    return wrapped(dtype, whole(a) / whole(b));
  }
  long double least = std::fabs(b.value) - b.error;
  if (!(least > 0)) return std::isnan(a.value) && a.is_exact() ? a : kAnything;
  long double value = a.value / b.value;
  double error = a.is_exact() && b.is_exact()
                     ? 0
                     : static_cast<double>((a.error + std::fabs(value) * b.error) / least);
  bool is_exact = std::fma(value, b.value, -a.value) == 0;
  return result_of(dtype, value, error, is_exact ? 0 : 2);
}

// The result is known only for exact operands, because the remainder is discontinuous.
Number remainder(DType dtype, const Number& a, const Number& b, bool sign_of_divisor) {
  if (b.value == 0 || !a.is_exact() || !b.is_exact()) return kAnything;
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) return kAnything;
  long double r = std::fmod(a.value, b.value);
  if (sign_of_divisor && r != 0 && (r < 0) != (b.value < 0)) r += b.value;
  return is_float(dtype) ? result_of(dtype, r, 0) : Number{r, 0};
}
Number mod(DType dtype, const Number& a, const Number& b) { return remainder(dtype, a, b, true); }
Number fmod(DType dtype, const Number& a, const Number& b) { return remainder(dtype, a, b, false); }

Number extreme(DType dtype, const Number& a, const Number& b, bool greatest) {
  if (is_float(dtype) && (std::isnan(a.value) || std::isnan(b.value)))
    return a.is_exact() && b.is_exact() ? Number{std::nanl(""), 0} : kAnything;
  const Number& lesser = a.value < b.value ? a : b;
  const Number& greater = a.value < b.value ? b : a;
  const Number& chosen = greatest ? greater : lesser;
  bool is_apart = greater.value - lesser.value > a.error + b.error;
  return {chosen.value, is_apart ? chosen.error : std::max(a.error, b.error)};
}
Number least(DType dtype, const Number& a, const Number& b) { return extreme(dtype, a, b, false); }
Number greatest(DType dtype, const Number& a, const Number& b) {
  return extreme(dtype, a, b, true);
}

template <typename Op>
Number bits(DType dtype, const Number& a, const Number& b) {
  return wrapped(dtype, Op()(whole(a), whole(b)));
}
Number shift_left(DType dtype, const Number& a, const Number& b) {
  if (b.value >= 8 * byte_size(dtype)) return kAnything;
  return wrapped(dtype, whole(a) << static_cast<int>(b.value));
}
Number shift_right(DType dtype, const Number& a, const Number& b) {
  if (b.value >= 8 * byte_size(dtype)) return kAnything;
  return wrapped(dtype, whole(a) >> static_cast<int>(b.value));
}

template <typename Op>
Number compare(DType, const Number& a, const Number& b) {
  bool is_sure = (a.is_exact() && b.is_exact()) || std::fabs(a.value - b.value) > a.error + b.error;
  return is_sure ? truth(Op()(a.value, b.value)) : kAnything;
}

const std::unordered_map<std::string, Binary>& binary_functions() {
  static const std::unordered_map<std::string, Binary> kFunctions = {
      {"add", add},
      {"sub", subtract},
      {"mul", multiply},
      {"div", divide},
      {"mod", mod},
      {"fmod", fmod},
      {"min", least},
      {"max", greatest},
      {"and", bits<std::bit_and<>>},
      {"or", bits<std::bit_or<>>},
      {"xor", bits<std::bit_xor<>>},
      {"bit_and", bits<std::bit_and<>>},
      {"bit_or", bits<std::bit_or<>>},
      {"bit_xor", bits<std::bit_xor<>>},
      {"shift_left", shift_left},
      {"shift_right", shift_right},
      {"equal", compare<std::equal_to<>>},
      {"less", compare<std::less<>>},
      {"less_equal", compare<std::less_equal<>>},
      {"greater", compare<std::greater<>>},
      {"greater_equal", compare<std::greater_equal<>>},
  };
  return kFunctions;
}

// --- Powers and casts. ---------------------------------------------------------------------------

// The power modulo 2^width, where width is the number of bits of `dtype`. An exponent below 0 gives
// the reciprocal rounded towards zero. The result is unknown for an exponent above 63 unless the
// base is -1, 0 or 1, and for bool.
Number integer_power(DType dtype, const Number& a, const Number& b) {
  if (dtype == DType::kBool) return kAnything;
  if (b.value < 0 && std::fabs(a.value) != 1) return {0, 0};
  if (b.value > 63 && std::fabs(a.value) > 1) return kAnything;
  if (b.value < 0 || b.value > 63)
    return a.value < 0 && std::fmod(b.value, 2) == 0 ? Number{1, 0} : a;
  Number power{1, 0};
  for (int i = 0; i < static_cast<int>(b.value); ++i) power = multiply(dtype, power, a);
  return power;
}

Number float_power(DType dtype, const Number& a, const Number& b) {
  long double value = std::pow(a.value, b.value);
  double error = 0;
  if (!a.is_exact() || !b.is_exact()) {
    if (!(a.value - a.error > 0)) return kAnything;
    for (int corner = 0; corner < 4; ++corner) {
      long double base = a.value + (corner % 2 ? a.error : -a.error);
      long double exponent = b.value + (corner / 2 ? b.error : -b.error);
      error = std::max(error, static_cast<double>(std::fabs(std::pow(base, exponent) - value)));
    }
    if (!std::isfinite(error)) return kAnything;
  }
  if (a.value == 0 && b.value < 0) return kAnything;  // the sign of zero is not tracked
  // In f32, a large exponent may be rounded, so that its parity is unknown.
  if (std::fabs(b.value) > 0x1p24L) return kAnything;
  return result_of(dtype, value, error * 1.001, kApproximate);
}

Number power(DType dtype, const Number& a, DType exponent_type, const Number& b) {
  if (!is_float(dtype) && !is_float(exponent_type)) return integer_power(dtype, a, b);
  if (is_float(dtype)) return float_power(dtype, a, b);
  long double value = std::pow(a.value, b.value);
  bool fits = value >= lowest(dtype) && value <= highest(dtype) && std::fabs(value) < 0x1p31L;
  bool is_sure = std::fabs(value - std::nearbyint(value)) > 1e-6L || value == std::trunc(value);
  return fits && is_sure && b.is_exact() ? Number{std::trunc(value), 0} : kAnything;
}

Number cast_number(DType from, DType to, const Number& x) {
  if (is_float(to)) return result_of(to, x.value, x.error);
  if (to == DType::kBool) {
    if (std::fabs(x.value) <= x.error && !x.is_exact()) return kAnything;
    return truth(x.value != 0);
  }
  if (!is_float(from)) return wrapped(to, whole(x));
  long double low = std::trunc(x.value - x.error), high = std::trunc(x.value + x.error);
  if (low != high || low < lowest(to) || low > highest(to)) return kAnything;
  return {low, 0};
}

// The bits of a NaN can change in arithmetic.
Number bit_cast_number(DType from, DType to, const Number& x) {
  if (!x.is_exact() || std::isnan(x.value)) return kAnything;
  char bytes[8] = {};
  encode(from, x.value, bytes);
  return {decode(to, bytes), 0};
}

// Philox4x32-10: the first two words for four words of counter and two of key.
Number philox(const Number& counter, const Number& key, const Number& stream) {
  const auto low = static_cast<uint64_t>(counter.value), high = static_cast<uint64_t>(stream.value);
  const auto seed = static_cast<uint64_t>(key.value);
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                               static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  std::array<uint32_t, 2> k = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * c[0], second = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(second >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(second),
         static_cast<uint32_t>(first >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(first)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return {static_cast<long double>(uint64_t{c[1]} << 32 | c[0]), 0};
}

Number is_infinite(const Operands& in, const Number& x) {
  return truth(std::isinf(x.value) && in.flag(x.value < 0 ? "negative" : "positive"));
}

// --- Arrays. -------------------------------------------------------------------------------------

template <typename Scalar>
Result<Arrays> map(DType dtype, const Operands& in, Scalar scalar) {
  std::vector<std::vector<int64_t>> shapes;
  for (const Array* array : in.arrays) shapes.push_back(array->dims);
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> dims, broadcast_of(shapes));
  Array result = make_array(dtype, dims);
  size_t position = 0;
  std::vector<const Number*> operands(in.arrays.size());
  for_each_index(dims, [&](const Index& index) {
    bool is_known = true;
    for (size_t i = 0; i < operands.size(); ++i) {
      operands[i] = &broadcast_element(in[i], index);
      is_known = is_known && operands[i]->is_known();
    }
    result.elements[position++] = is_known ? scalar(operands) : kAnything;
  });
  return Arrays{std::move(result)};
}

Result<Arrays> select(const Operands& in) {
  // An element that is not selected has no effect on the error.
  std::vector<std::vector<int64_t>> shapes = {in[0].dims, in[1].dims, in[2].dims};
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> dims, broadcast_of(shapes));
  Array result = make_array(in[1].dtype, dims);
  size_t position = 0;
  for_each_index(dims, [&](const Index& index) {
    const Number& condition = broadcast_element(in[0], index);
    const Number& chosen = broadcast_element(in[condition.value != 0 ? 1 : 2], index);
    result.elements[position++] = condition.is_known() ? chosen : kAnything;
  });
  return Arrays{std::move(result)};
}

}  // namespace

std::optional<Result<Arrays>> evaluate_elementwise(llvm::StringRef name, const Operands& in) {
  using Numbers = std::vector<const Number*>;
  if (name == "select") return select(in);
  DType dtype = in.arrays.empty() ? DType::kF32 : in[0].dtype;
  if (name == "cast") {
    DType to = *parse_dtype(in.text("to"));
    return map(to, in, [&](const Numbers& x) { return cast_number(dtype, to, *x[0]); });
  }
  if (name == "bit_cast") {
    DType to = *parse_dtype(in.text("to"));
    return map(to, in, [&](const Numbers& x) { return bit_cast_number(dtype, to, *x[0]); });
  }
  if (name == "philox")
    return map(dtype, in, [](const Numbers& x) { return philox(*x[0], *x[1], *x[2]); });
  if (name == "is_nan")
    return map(DType::kBool, in, [](const Numbers& x) { return truth(std::isnan(x[0]->value)); });
  if (name == "is_inf")
    return map(DType::kBool, in, [&](const Numbers& x) { return is_infinite(in, *x[0]); });
  if (name == "pow")
    return map(dtype, in,
               [&](const Numbers& x) { return power(dtype, *x[0], in[1].dtype, *x[1]); });
  if (auto unary = unary_functions().find(name.str()); unary != unary_functions().end())
    return map(dtype, in, [&](const Numbers& x) { return unary->second(dtype, *x[0]); });
  if (auto binary = binary_functions().find(name.str()); binary != binary_functions().end()) {
    bool is_test =
        mlir::cast<graph::TensorType>(in.op->getResult(0).getType()).getDtype() == DType::kBool &&
        (name == "equal" || name.starts_with("less") || name.starts_with("greater"));
    return map(is_test ? DType::kBool : dtype, in,
               [&](const Numbers& x) { return binary->second(dtype, *x[0], *x[1]); });
  }
  return std::nullopt;
}

}  // namespace scopevm::compiler::property

// Compares elementwise ops with the C++ library, over ranges that cover every branch of their
// expansions.
#include <cmath>
#include <limits>

#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> unary(const std::string& op, const std::vector<float>& x) {
  std::string text =
      one_op("%x: !sv.tensor<f32[n]>",
             "%r = sv." + op + " %x : (!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>", "f32[n]");
  auto out = run_text(text, {Array::of(DType::kF32, {static_cast<int64_t>(x.size())}, x)});
  return out.empty() ? std::vector<float>() : out[0].as<float>();
}

std::vector<float> range(float low, float high, int count) {
  std::vector<float> x;
  for (int i = 0; i < count; ++i) x.push_back(low + (high - low) * i / (count - 1));
  return x;
}

void expect_close(const std::string& op, const std::vector<float>& x, double (*reference)(double),
                  double relative, double absolute = 1e-37) {
  std::vector<float> y = unary(op, x);
  ASSERT_EQ(y.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = reference(x[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(y[i])) << op << " of " << x[i];
    } else if (std::isinf(expected) || std::isinf(static_cast<float>(expected))) {
      EXPECT_EQ(y[i], static_cast<float>(expected)) << op << " of " << x[i];
    } else {
      ASSERT_NEAR(y[i], expected, relative * std::abs(expected) + absolute) << op << " of " << x[i];
    }
  }
}

std::vector<float> with_specials(std::vector<float> x) {
  x.insert(x.end(), {0.0f, -0.0f, kInf, -kInf, kNan, 1e-40f, -1e-40f, 3e38f, -3e38f, 1e-10f});
  return x;
}

TEST(Elementwise, FastFunctionsAreAccurateOverTheirRange) {
  expect_close(
      "exp", with_specials(range(-110, 95, 20001)), [](double x) { return std::exp(x); }, 2e-7,
      2e-45);
  expect_close(
      "log", with_specials(range(1e-3f, 50, 20001)), [](double x) { return std::log(x); }, 3e-7,
      1e-7);
  expect_close(
      "tanh", with_specials(range(-12, 12, 20001)), [](double x) { return std::tanh(x); }, 6e-7);
  expect_close(
      "erf", with_specials(range(-5, 5, 20001)), [](double x) { return std::erf(x); }, 7e-7);
  expect_close(
      "sigmoid", with_specials(range(-80, 40, 20001)),
      [](double x) { return 1 / (1 + std::exp(-x)); }, 4e-7);
  expect_close(
      "log1p", with_specials(range(-0.99f, 50, 20001)), [](double x) { return std::log1p(x); },
      7e-7);
  expect_close("log1p", range(-1e-3f, 1e-3f, 20001), [](double x) { return std::log1p(x); }, 7e-7);
  expect_close(
      "softplus", with_specials(range(-80, 40, 20001)),
      [](double x) {
        return std::isinf(x) ? std::max(x, 0.0)
                             : std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0);
      },
      7e-7);
}

TEST(Elementwise, LibraryFunctionsAreAccurate) {
  auto x = with_specials(range(-3, 3, 301));
  expect_close("sin", x, [](double x) { return std::sin(x); }, 1e-6);
  expect_close("cos", x, [](double x) { return std::cos(x); }, 1e-6);
  expect_close("tan", x, [](double x) { return std::tan(x); }, 1e-6);
  expect_close("asin", x, [](double x) { return std::asin(x); }, 1e-6);
  expect_close("acos", x, [](double x) { return std::acos(x); }, 1e-6);
  expect_close("atan", x, [](double x) { return std::atan(x); }, 1e-6);
  expect_close("sinh", x, [](double x) { return std::sinh(x); }, 1e-6);
  expect_close("cosh", x, [](double x) { return std::cosh(x); }, 1e-6);
  expect_close("asinh", x, [](double x) { return std::asinh(x); }, 1e-6);
  expect_close("acosh", x, [](double x) { return std::acosh(x); }, 1e-6);
  expect_close("atanh", x, [](double x) { return std::atanh(x); }, 1e-6);
  expect_close("sqrt", x, [](double x) { return std::sqrt(x); }, 1e-6, 1e-30);
  expect_close("round", x, [](double x) { return std::nearbyint(x); }, 0);
  expect_close("ceil", x, [](double x) { return std::ceil(x); }, 0);
  expect_close("floor", x, [](double x) { return std::floor(x); }, 0);
}

TEST(Elementwise, ReluKeepsNan) {
  auto y = unary("relu", {-1, 0, 2, kNan, -kInf, kInf});
  ASSERT_EQ(y.size(), 6u);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[2], 2);
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_EQ(y[4], 0);
  EXPECT_EQ(y[5], kInf);
}

template <typename T>
std::vector<T> binary(const std::string& op, DType dtype, const std::vector<T>& a,
                      const std::vector<T>& b) {
  std::string type = "!sv.tensor<" + std::string(name(dtype)) + "[n]>";
  std::string text = one_op("%a: " + type + ", %b: " + type,
                            "%r = sv." + op + " %a, %b : (" + type + ", " + type + ") -> " + type,
                            std::string(name(dtype)) + "[n]");
  int64_t n = static_cast<int64_t>(a.size());
  auto out = run_text(text, {Array::of(dtype, {n}, a), Array::of(dtype, {n}, b)});
  return out.empty() ? std::vector<T>() : out[0].template as<T>();
}

TEST(Elementwise, IntegerDivisionNeverTraps) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> a = {7, -7, 7, -7, 5, kMin, kMin, 0}, b = {2, 2, -2, -2, 0, -1, 0, 3};
  EXPECT_EQ(binary("div", DType::kI32, a, b), (std::vector<int32_t>{3, -3, -3, 3, 0, kMin, 0, 0}));
  std::vector<int32_t> m = binary("mod", DType::kI32, a, b);
  ASSERT_EQ(m.size(), a.size());
  EXPECT_EQ((std::vector<int32_t>(m.begin(), m.begin() + 4)), (std::vector<int32_t>{1, 1, -1, -1}));
  std::vector<int32_t> f = binary("fmod", DType::kI32, a, b);
  EXPECT_EQ((std::vector<int32_t>(f.begin(), f.begin() + 4)), (std::vector<int32_t>{1, -1, 1, -1}));
}

TEST(Elementwise, UnsignedTypesCompareAndDivideUnsigned) {
  EXPECT_EQ(binary<uint8_t>("div", DType::kU8, {200, 255}, {3, 2}),
            (std::vector<uint8_t>{66, 127}));
  EXPECT_EQ(binary<uint8_t>("max", DType::kU8, {200, 3}, {100, 7}), (std::vector<uint8_t>{200, 7}));
  EXPECT_EQ(binary<uint32_t>("shift_left", DType::kU32, {1, 1, 5}, {31, 32, 1}),
            (std::vector<uint32_t>{1u << 31, 0, 10}));
}

TEST(Elementwise, PowersOfIntegersAndFloats) {
  EXPECT_EQ(binary<int64_t>("pow", DType::kI64, {2, -3, 0, -1, 5, 2}, {10, 3, 0, 101, -1, 62}),
            (std::vector<int64_t>{1024, -27, 1, -1, 0, int64_t{1} << 62}));
  auto y = binary<float>("pow", DType::kF32, {2, 9, -2, 4}, {0.5f, 0.5f, 3, -1});
  ASSERT_EQ(y.size(), 4u);
  EXPECT_FLOAT_EQ(y[0], std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(y[2], -8);
  EXPECT_FLOAT_EQ(y[3], 0.25f);
}

// The power modulo 2^bits, where T has `bits` bits.
template <typename T>
T wrapping_power(T base, uint64_t exponent) {
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1) result *= square;
  return static_cast<T>(result);
}

template <typename T>
void expect_wrapping_powers(DType dtype, const std::vector<T>& exponents) {
  std::vector<T> bases, all;
  for (T base : {0, 1, 2, 3, 5, 6, -1, -2, -7, 12})
    for (T exponent : exponents) {
      bases.push_back(base);
      all.push_back(exponent);
    }
  std::vector<T> powers = binary<T>("pow", dtype, bases, all);
  ASSERT_EQ(powers.size(), bases.size());
  for (size_t i = 0; i < bases.size(); ++i)
    EXPECT_EQ(powers[i], wrapping_power(bases[i], static_cast<uint64_t>(all[i])))
        << int64_t{bases[i]} << " to the " << int64_t{all[i]};
}

TEST(Elementwise, PowersOfIntegersWrap) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  expect_wrapping_powers<int64_t>(DType::kI64, {62, 63, 64, 65, 100, 1 << 20, kMost - 1, kMost});
  expect_wrapping_powers<int32_t>(DType::kI32, {31, 32, 33, 64, 101, (1 << 30) + 1});
  expect_wrapping_powers<int8_t>(DType::kI8, {7, 8, 9, 63, 64, 65, 126, 127});
}

// 255 as u8 has the bits of -1, but its reciprocal is less than 1.
TEST(Elementwise, NegativePowersOfUnsignedIntegersAreZeroUnlessTheBaseIsOne) {
  std::string text = one_op(
      "%x: !sv.tensor<u8[n]>, %y: !sv.tensor<i32[n]>",
      "%r = sv.pow %x, %y : (!sv.tensor<u8[n]>, !sv.tensor<i32[n]>) -> !sv.tensor<u8[n]>", "u8[n]");
  auto out = run_text(text, {Array::of<uint8_t>(DType::kU8, {5}, {255, 255, 255, 1, 0}),
                             Array::of<int32_t>(DType::kI32, {5}, {-1, -2, 3, -3, -1})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<uint8_t>(), (std::vector<uint8_t>{0, 0, 255, 1, 0}));
}

TEST(Elementwise, HalfPowerOfNegativeZeroAndInfinity) {
  std::string text = R"(
func.func @main(%x: !sv.tensor<f32[n]>) -> !sv.tensor<f32[n]> {
  %half = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
  %r = sv.pow %x, %half : (!sv.tensor<f32[n]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n]>
  return %r : !sv.tensor<f32[n]>
}
)";
  auto out = run_text(text, {Array::of<float>(DType::kF32, {6}, {-kInf, -0.0f, 0, 9, kInf, -4})});
  ASSERT_EQ(out.size(), 1u);
  std::vector<float> y = out[0].as<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end() - 1), (std::vector<float>{kInf, 0, 0, 3, kInf}));
  EXPECT_FALSE(std::signbit(y[1]));
  EXPECT_TRUE(std::isnan(y[5]));
}

TEST(Elementwise, MinAndMaxPropagateNan) {
  for (const char* op : {"min", "max"}) {
    auto y = binary<float>(op, DType::kF32, {kNan, 1, 2}, {1, kNan, 3});
    ASSERT_EQ(y.size(), 3u);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1])) << op;
    EXPECT_EQ(y[2], std::string(op) == "min" ? 2 : 3);
  }
}

Array cast_to(DType to, const Array& x) {
  std::string from_name(name(x.dtype)), to_name(name(to));
  std::string text = one_op("%x: !sv.tensor<" + from_name + "[n]>",
                            "%r = sv.cast %x {to = \"" + to_name + "\"} : (!sv.tensor<" +
                                from_name + "[n]>) -> !sv.tensor<" + to_name + "[n]>",
                            to_name + "[n]");
  auto out = run_text(text, {x});
  return out.empty() ? Array() : out[0];
}

TEST(Elementwise, CastsFromFloatSaturate) {
  Array x = Array::of<float>(DType::kF32, {6}, {1.9f, -1.9f, 1e20f, -1e20f, kNan, 300});
  EXPECT_EQ(cast_to(DType::kI32, x).as<int32_t>(),
            (std::vector<int32_t>{1, -1, 2147483647, -2147483647 - 1, 0, 300}));
  EXPECT_EQ(cast_to(DType::kU8, x).as<uint8_t>(), (std::vector<uint8_t>{1, 0, 255, 0, 0, 255}));
  EXPECT_EQ(
      cast_to(DType::kBool, Array::of<float>(DType::kF32, {3}, {0, -0.5f, kNan})).as<uint8_t>(),
      (std::vector<uint8_t>{0, 1, 1}));
}

// The first rounding of two, to f32, moves each of these values to the midpoint of two elements.
TEST(Elementwise, CastsToHalfTypesRoundOnce) {
  const double above = 1 + 0x1p-11 + 0x1p-40, below = 1 + 0x1p-10 + 0x1p-11 - 0x1p-40;
  Array x = Array::of<double>(DType::kF64, {8},
                              {above, -above, below, 0x1p-25 * (1 + 0x1p-40), 1e-300, 1e300, 0.1,
                               std::numeric_limits<double>::infinity()});
  EXPECT_EQ(cast_to(DType::kF16, x).as<uint16_t>(),
            (std::vector<uint16_t>{0x3C01, 0xBC01, 0x3C01, 1, 0, 0x7C00, 0x2E66, 0x7C00}));
  const double wide = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(
      cast_to(DType::kBF16, Array::of<double>(DType::kF64, {3}, {wide, -wide, 3.4e38 * 1.001}))
          .as<uint16_t>(),
      (std::vector<uint16_t>{0x3F81, 0xBF81, 0x7F80}));
  for (int exponent : {25, 30, 31, 37, 45, 53, 62}) {
    const int64_t midpoint = (int64_t{1} << exponent) + (int64_t{1} << (exponent - 8));
    const auto even = static_cast<uint16_t>((127 + exponent) << 7);
    const auto next = static_cast<uint16_t>(even + 1);
    EXPECT_EQ(cast_to(DType::kBF16, Array::of<int64_t>(DType::kI64, {5},
                                                       {midpoint, midpoint + 1, midpoint - 1,
                                                        -midpoint, -midpoint - 1}))
                  .as<uint16_t>(),
              (std::vector<uint16_t>{even, next, even, static_cast<uint16_t>(even | 0x8000),
                                     static_cast<uint16_t>(next | 0x8000)}))
        << exponent;
  }
  const uint32_t midpoint = 0x80800000;
  EXPECT_EQ(cast_to(DType::kBF16, Array::of<uint32_t>(DType::kU32, {2}, {midpoint, midpoint + 1}))
                .as<uint16_t>(),
            (std::vector<uint16_t>{(127 + 31) << 7, ((127 + 31) << 7) + 1}));
}

TEST(Elementwise, HalfTypesRoundToEven) {
  Array x = Array::of<float>(DType::kF32, {7},
                             {1.0f, 65504.0f, 65520.0f, 5.9604645e-8f, 1.0009765f, kNan, -kInf});
  auto h = cast_to(DType::kF16, x).as<uint16_t>();
  ASSERT_EQ(h.size(), 7u);
  EXPECT_EQ(h[0], 0x3C00);
  EXPECT_EQ(h[1], 0x7BFF);
  EXPECT_EQ(h[2], 0x7C00);
  EXPECT_EQ(h[3], 0x0001);
  EXPECT_EQ(h[4], 0x3C01);
  EXPECT_EQ(h[5] & 0x7E00, 0x7E00);
  EXPECT_EQ(h[6], 0xFC00);
  auto b = cast_to(DType::kBF16, x).as<uint16_t>();
  EXPECT_EQ(b[0], 0x3F80);
  EXPECT_EQ(b[6], 0xFF80);
  std::vector<uint16_t> all(65536);
  for (int i = 0; i < 65536; ++i) all[i] = static_cast<uint16_t>(i);
  Array halves = Array::of(DType::kF16, {65536}, all);
  auto back = cast_to(DType::kF16, cast_to(DType::kF32, halves)).as<uint16_t>();
  ASSERT_EQ(back.size(), all.size());
  // A round trip keeps the bits of every f16 value except NaN.
  for (int i = 0; i < 65536; ++i)
    if ((i & 0x7C00) != 0x7C00 || (i & 0x3FF) == 0) ASSERT_EQ(back[i], all[i]) << i;
}

}  // namespace
}  // namespace scopevm::compiler::testing

// Casts between f16 and f32: every f16 value and the midpoints of adjacent values, with and without
// hardware conversion.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

constexpr uint16_t kInfinity = 0x7C00;

float value_of(uint16_t half) {
  int exponent = half >> 10 & 31, mantissa = half & 1023;
  float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                  : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  if (exponent == 31) magnitude = std::numeric_limits<float>::infinity();
  if (exponent == 31 && mantissa != 0) magnitude = std::numeric_limits<float>::quiet_NaN();
  return half & 0x8000 ? -magnitude : magnitude;
}

std::vector<uint16_t> all_halves() {
  std::vector<uint16_t> halves;
  for (int i = 0; i < 65536; ++i) halves.push_back(static_cast<uint16_t>(i));
  return halves;
}

Array cast(const std::string& cpu, const std::string& from, const std::string& to, const Array& x) {
  std::string source = "!sv.tensor<" + from + "[n]>", result = to + "[n]";
  std::string op =
      "%r = sv.cast %x {to = \"" + to + "\"} : (" + source + ") -> !sv.tensor<" + result + ">";
  std::vector<Array> results = run_text(one_op("%x: " + source, op, result), {x}, cpu);
  return results.empty() ? Array() : results[0];
}

class HalfOnEveryTarget : public ::testing::TestWithParam<const char*> {};

TEST_P(HalfOnEveryTarget, WidensExactly) {
  std::vector<uint16_t> halves = all_halves();
  std::vector<float> wide =
      cast(GetParam(), "f16", "f32", Array::of(DType::kF16, {65536}, halves)).as<float>();
  ASSERT_EQ(wide.size(), halves.size());
  for (uint16_t half : halves) {
    float wanted = value_of(half);
    ASSERT_TRUE(wide[half] == wanted || (std::isnan(wide[half]) && std::isnan(wanted))) << half;
    ASSERT_EQ(std::signbit(wide[half]), (half & 0x8000) != 0) << half;
  }
}

// The midpoint of two adjacent f16 values rounds to the value with the even mantissa. The f32
// neighbours of the midpoint round to the nearest f16 value.
TEST_P(HalfOnEveryTarget, RoundsMidpointsToEven) {
  std::vector<float> points;
  std::vector<uint16_t> wanted;
  float infinity = std::numeric_limits<float>::infinity();
  for (int sign : {0, 0x8000})
    for (uint16_t low = 0; low < kInfinity; ++low) {
      uint16_t high = low + 1;
      float upper = high == kInfinity ? 65536.0f : value_of(high);
      float middle = (value_of(low) + upper) / 2;
      for (float point : {value_of(low), std::nextafter(middle, 0.0f), middle,
                          std::nextafter(middle, infinity)}) {
        points.push_back(sign ? -point : point);
        bool is_up = point > middle || (point == middle && low % 2 == 1);
        wanted.push_back(static_cast<uint16_t>(sign | (is_up ? high : low)));
      }
    }
  points.insert(points.end(), {infinity, -infinity, 3e38f, -1e5f, 1e-30f});
  wanted.insert(wanted.end(), {0x7C00, 0xFC00, 0x7C00, 0xFC00, 0});
  auto count = static_cast<int64_t>(points.size());
  std::vector<uint16_t> halves =
      cast(GetParam(), "f32", "f16", Array::of(DType::kF32, {count}, points)).as<uint16_t>();
  ASSERT_EQ(halves.size(), wanted.size());
  for (size_t i = 0; i < points.size(); ++i) ASSERT_EQ(halves[i], wanted[i]) << points[i];
}

TEST_P(HalfOnEveryTarget, NanStaysNan) {
  Array x = Array::of<float>(DType::kF32, {1}, {std::numeric_limits<float>::quiet_NaN()});
  uint16_t half = cast(GetParam(), "f32", "f16", x).as<uint16_t>()[0];
  EXPECT_TRUE(std::isnan(value_of(half)));
}

INSTANTIATE_TEST_SUITE_P(Half, HalfOnEveryTarget,
                         ::testing::Values("host", "x86-64-v3", "x86-64-v2", "x86-64"));

}  // namespace
}  // namespace scopevm::compiler::testing

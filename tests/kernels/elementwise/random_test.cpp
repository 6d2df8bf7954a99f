// Random numbers: Philox against its published vectors, the distributions against the C++ library,
// and equal bits on all targets.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

using Words = std::vector<uint64_t>;

constexpr char kPhilox[] = R"(
func.func @main(%c: !sv.tensor<u64[n]>, %k: !sv.tensor<u64[n]>, %s: !sv.tensor<u64[n]>) -> !sv.tensor<u64[n]> {
  %r = sv.philox %c, %k, %s : (!sv.tensor<u64[n]>, !sv.tensor<u64[n]>, !sv.tensor<u64[n]>) -> !sv.tensor<u64[n]>
  return %r : !sv.tensor<u64[n]>
}
)";

// Two results of the bits of counters 0, 1, 2, ... .
constexpr char kNumbers[] = R"(
func.func @main(%c: !sv.tensor<u64[n]>, %k: !sv.tensor<u64[]>, %s: !sv.tensor<u64[]>)
    -> (!sv.tensor<u64[n]>, !sv.tensor<f32[n]>, !sv.tensor<f32[n]>) {
  %b = sv.philox %c, %k, %s : (!sv.tensor<u64[n]>, !sv.tensor<u64[]>, !sv.tensor<u64[]>) -> !sv.tensor<u64[n]>
  %z = sv.normal_from_bits %b : (!sv.tensor<u64[n]>) -> !sv.tensor<f32[n]>
  %g = sv.gumbel_from_bits %b : (!sv.tensor<u64[n]>) -> !sv.tensor<f32[n]>
  return %b, %z, %g : !sv.tensor<u64[n]>, !sv.tensor<f32[n]>, !sv.tensor<f32[n]>
}
)";

Array words(const Words& values) {
  return Array::of(DType::kU64, {static_cast<int64_t>(values.size())}, values);
}
Array word(uint64_t value) { return Array::of<uint64_t>(DType::kU64, {}, {value}); }

// Of the first `count` counters, with key 7 and stream 9.
std::vector<Array> numbers(int64_t count, const std::string& cpu = "host") {
  Words counters(static_cast<size_t>(count));
  std::iota(counters.begin(), counters.end(), 0);
  return run_text(kNumbers, {words(counters), word(7), word(9)}, cpu);
}

// The known answers of Random123 for philox4x32 with 10 rounds.
TEST(Random, PhiloxHasThePublishedResults) {
  const auto out = run_text(kPhilox, {words({0, ~uint64_t{0}, 0x85a308d3243f6a88}),
                                      words({0, ~uint64_t{0}, 0x299f31d0a4093822}),
                                      words({0, ~uint64_t{0}, 0x0370734413198a2e})});
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].as<uint64_t>(),
            (Words{0xe169c58d6627e8d5, 0x41c83b0e408f276d, 0x94fdccebd16cfe09}));
}

TEST(Random, NumbersHaveTheirDistributions) {
  const auto out = numbers(20000);
  ASSERT_EQ(out.size(), 3U);
  const Words bits = out[0].as<uint64_t>();
  const auto normal = out[1].as<float>(), gumbel = out[2].as<float>();
  for (size_t i = 0; i < bits.size(); ++i) {
    const double p = (static_cast<double>(bits[i] >> 33) + 0.5) * 0x1p-32;
    const bool is_odd = (bits[i] & 1) != 0;
    // The probability of a tail beyond the number is p. Its error is that of the number times the
    // density, which is at most (|z| + 1) times the probability of the tail.
    const double z = is_odd ? normal[i] : -normal[i];
    ASSERT_NEAR(std::erfc(z / std::sqrt(2.0)) / 2, p, 1e-6 * p * (z * z + 1)) << i;
    const double exponential = is_odd ? -std::log1p(-p) : -std::log(p);
    ASSERT_NEAR(gumbel[i], -std::log(exponential), 1e-6) << i;
  }
}

// The sums are those of an implementation in NumPy that rounds each operation separately.
TEST(Random, NumbersAreEqualOnAllTargets) {
  for (const char* cpu : {"x86-64", "x86-64-v3", "host"}) {
    const auto out = numbers(1000, cpu);
    ASSERT_EQ(out.size(), 3U) << cpu;
    const auto sum = [&](const Array& array) {
      const auto bits = array.as<uint32_t>();
      return std::accumulate(bits.begin(), bits.end(), uint64_t{0});
    };
    EXPECT_EQ(sum(out[1]), 2141866755849U) << cpu;
    EXPECT_EQ(sum(out[2]), 1868184768398U) << cpu;
  }
}

// The random numbers of an element do not depend on the number of elements.
TEST(Random, NumbersDependOnTheirCounterOnly) {
  const auto few = numbers(37), many = numbers(1000);
  ASSERT_EQ(few.size(), 3U);
  ASSERT_EQ(many.size(), 3U);
  for (size_t i = 0; i < few.size(); ++i)
    EXPECT_TRUE(std::equal(few[i].bytes.begin(), few[i].bytes.end(), many[i].bytes.begin())) << i;
  EXPECT_TRUE(numbers(0).at(1).bytes.empty());
}

}  // namespace
}  // namespace scopevm::compiler::testing

// ONNX operators with random results, through the public API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/control_flow/run_graph.h"

namespace scopevm {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Not;

Graph model(const std::string& name) {
  return Graph::of_file(SCOPEVM_TEST_MODELS + name + ".onnx");
}

std::vector<double> doubles(const Tensor& tensor) {
  const auto* data = static_cast<const double*>(tensor.data());
  return {data, data + tensor.element_count()};
}
std::vector<uint8_t> bools(const Tensor& tensor) {
  const auto* data = static_cast<const uint8_t*>(tensor.data());
  return {data, data + tensor.element_count()};
}

struct Moments {
  double mean = 0, variance = 0;
};
template <typename T>
Moments moments(const std::vector<T>& x) {
  Moments m;
  for (const T e : x) m.mean += static_cast<double>(e) / static_cast<double>(x.size());
  for (const T e : x)
    m.variance += std::pow(static_cast<double>(e) - m.mean, 2) / static_cast<double>(x.size());
  return m;
}

// The largest distance of the empirical distribution from `cdf` (Kolmogorov and Smirnov). For
// 40,000 numbers, it exceeds .01 with a probability of 7e-4 for a random seed; the seed is fixed.
template <typename Cdf>
double distance(std::vector<float> x, Cdf cdf) {
  std::ranges::sort(x);
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i)
    most = std::max(most,
                    std::abs(cdf(x[i]) - static_cast<double>(i) / static_cast<double>(x.size())));
  return most;
}

TEST(RandomOps, HaveTheirDistributions) {
  Graph graph = model("distributions");
  std::vector<float> probabilities(40000);
  for (size_t i = 0; i < probabilities.size(); ++i) probabilities[i] = i % 2 == 0 ? 0.25f : 0.9f;
  const float minus_infinity = -std::numeric_limits<float>::infinity();
  const auto out = graph.run(
      {floats({200, 200}, probabilities),
       floats({2, 3}, {std::log(1.f), std::log(2.f), std::log(5.f), 3.f, minus_infinity, 3.f})});
  ASSERT_EQ(out.size(), 6U);
  EXPECT_LT(distance(elements(out[0]),
                     [](double x) { return std::erfc(-(x - 2) / 3 / std::sqrt(2.0)) / 2; }),
            0.01);
  const std::vector<float> uniform = elements(out[1]);
  EXPECT_LT(distance(uniform, [](double x) { return (x + 1) / 4; }), 0.01);
  EXPECT_THAT(uniform, Each(testing::AllOf(testing::Ge(-1.f), testing::Le(3.f))));
  const std::vector<double> wide = doubles(out[2]);
  EXPECT_NEAR(moments(wide).mean, 0.5, 0.01);
  EXPECT_NEAR(moments(wide).variance, 1.0 / 12, 0.002);
  EXPECT_EQ(std::set<double>(wide.begin(), wide.end()).size(), wide.size());
  EXPECT_EQ(out[3].dtype(), DType::kF16);
  const std::vector<int64_t> drawn = integers_of(out[4]);
  double rare = 0, frequent = 0;
  for (size_t i = 0; i < drawn.size(); i += 2) {
    rare += static_cast<double>(drawn[i]) / 20000;
    frequent += static_cast<double>(drawn[i + 1]) / 20000;
  }
  EXPECT_NEAR(rare, 0.25, 0.01);
  EXPECT_NEAR(frequent, 0.9, 0.01);
  const std::vector<int64_t> classes = integers_of(out[5]);
  const auto share = [&](size_t row, int64_t number) {
    const auto first = classes.begin() + static_cast<std::ptrdiff_t>(row * 20000);
    return static_cast<double>(std::count(first, first + 20000, number)) / 20000;
  };
  for (const int64_t number : {0, 1, 2})
    EXPECT_NEAR(share(0, number), std::vector<double>({0.125, 0.25, 0.625})[number], 0.01);
  EXPECT_NEAR(share(1, 0), 0.5, 0.01);
  EXPECT_EQ(share(1, 1), 0);
}

TEST(RandomOps, DependOnTheSeedAndTheStream) {
  Graph graph = model("streams");
  std::vector<std::vector<float>> by_default, zero, other;
  for (const Tensor& result : graph.run({})) by_default.push_back(elements(result));
  for (const Tensor& result : graph.run({integer(0)})) zero.push_back(elements(result));
  for (const Tensor& result : graph.run({integer(-1)})) other.push_back(elements(result));
  ASSERT_EQ(by_default.size(), 5U);
  EXPECT_EQ(by_default, zero);
  EXPECT_EQ(zero[0], zero[1]);
  EXPECT_NE(zero[0], zero[2]);
  EXPECT_NE(zero[2], zero[3]);
  EXPECT_EQ(zero[4], std::vector<float>(zero[0].begin(), zero[0].begin() + 3));
  for (size_t i = 0; i < zero.size(); ++i) EXPECT_NE(zero[i], other[i]) << i;
}

TEST(RandomOps, DrawOtherNumbersInEachIterationAndCall) {
  Graph graph = model("iterations");
  std::vector<float> all;
  for (const Tensor& result : graph.run({integer(50), floats({0, 0})}))
    for (const float x : elements(result)) all.push_back(x);
  EXPECT_EQ(all.size(), 204U);
  EXPECT_EQ(std::set<float>(all.begin(), all.end()).size(), all.size());

  Graph nested = model("nested_iterations");
  const std::vector<float> drawn = elements(nested.run({integer(9)}).at(0));
  EXPECT_EQ(drawn.size(), 81U);
  EXPECT_EQ(std::set<float>(drawn.begin(), drawn.end()).size(), drawn.size());
}

TEST(Dropout, ModeAtRunTime) {
  Graph graph = model("dropout");
  std::vector<float> x(20000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  const auto kept = graph.run({floats(x), floats({}, {0.5f}), boolean(false)});
  EXPECT_EQ(elements(kept.at(0)), x);
  EXPECT_THAT(bools(kept.at(1)), Each(1));
  EXPECT_EQ(elements(graph.run({floats(x), floats({}, {0}), boolean(true)}).at(0)), x);
  const auto out = graph.run({floats(x), floats({}, {0.75f}), boolean(true)});
  const std::vector<float> y = elements(out.at(0));
  const std::vector<uint8_t> mask = bools(out.at(1));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], mask[i] != 0 ? 4 * x[i] : 0) << i;
  EXPECT_NEAR(moments(mask).mean, 0.25, 0.01);
  EXPECT_THAT(elements(graph.run({floats(x), floats({}, {1}), boolean(true)}).at(0)), Each(0));
}

TEST(Dropout, ModeAtCompileTime) {
  Graph training = model("dropout_training"), inference = model("dropout_inference");
  const std::vector<float> x(1000, 1);
  EXPECT_THAT(elements(training.run({floats(x), floats({}, {0.5f})}).at(0)),
              testing::AllOf(testing::Contains(2), testing::Contains(0)));
  EXPECT_EQ(elements(inference.run({floats(x), floats({}, {0.5f})}).at(0)), x);
  // Only a model with random numbers has a seed.
  EXPECT_TRUE(training.call().find_input("seed").ok());
  EXPECT_FALSE(inference.call().find_input("seed").ok());
  // Before opset 7, the mode is an attribute, and that of training by default.
  Graph old = model("dropout_6");
  EXPECT_NEAR(moments(elements(old.run({floats(std::vector<float>(20000, 3))}).at(0))).mean, 3,
              0.05);
}

TEST(RandomOps, AFunctionCanHaveAnotherOpset) {
  Graph graph = model("function_of_another_opset");
  EXPECT_TRUE(graph.call().find_input("seed").ok());
  EXPECT_EQ(elements(graph.run({floats({0, 1})}).at(0)), (std::vector<float>{0, 1}));
}

TEST(RandomOps, TheNameOfTheSeedCanBeTaken) {
  Graph graph = model("taken_name");
  EXPECT_EQ(*graph.call().find_input("seed"), 0U);
  EXPECT_EQ(*graph.call().find_input("seed_"), 1U);
}

}  // namespace
}  // namespace scopevm

// Differences of tensors, against a slow computation for random elements.
#include "tools/tensors/difference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace scopevm::tool {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

Tensor floats(const std::vector<float>& values) {
  Tensor tensor = *Tensor::allocate(DType::kF32, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, tensor.elements<float>().begin());
  return tensor;
}

// The number of floats between two numbers.
uint64_t steps(float from, float to) {
  uint64_t count = 0;
  while (from != to) {
    from = std::nextafterf(from, to);
    ++count;
  }
  return count;
}

TEST(CompareTensors, MeasuresRandomElements) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<float> a, b;
    double absolute = 0, relative = 0;
    uint64_t ulp = 0;
    int64_t different = 0;
    for (int i = 0; i < 20; ++i) {
      a.push_back(static_cast<float>(static_cast<int>(random() % 2001) - 1000) * 1e-3f);
      b.push_back(a.back());
      for (uint32_t step = random() % 5; step > 0; --step)
        b.back() = std::nextafterf(b.back(), random() % 2 == 0 ? kInfinite : -kInfinite);
      different += a.back() != b.back() ? 1 : 0;
      const double distance = std::fabs(static_cast<double>(a.back()) - b.back());
      absolute = std::max(absolute, distance);
      if (distance > 0) relative = std::max(relative, distance / std::fabs(b.back()));
      ulp = std::max(ulp, steps(a.back(), b.back()));
    }
    const TensorDifference found = compare_tensors(floats(a), floats(b), {});
    EXPECT_EQ(found.different, different);
    EXPECT_EQ(found.outside, different);
    EXPECT_DOUBLE_EQ(found.absolute.value, absolute);
    EXPECT_DOUBLE_EQ(found.relative.value, relative);
    EXPECT_EQ(found.ulp->value, ulp);
    EXPECT_TRUE(compare_tensors(floats(a), floats(b), {.absolute = absolute}).is_within());
    EXPECT_TRUE(compare_tensors(floats(a), floats(b), {.ulp = ulp}).is_within());
    if (ulp > 0) {
      EXPECT_FALSE(compare_tensors(floats(a), floats(b), {.ulp = ulp - 1}).is_within());
    }
  }
}

TEST(CompareTensors, TreatsNansAndInfinities) {
  const TensorDifference equal =
      compare_tensors(floats({kNan, kInfinite, 0.0f}), floats({kNan, kInfinite, -0.0f}), {});
  EXPECT_TRUE(equal.is_within());
  EXPECT_EQ(equal.different, 0);
  EXPECT_EQ(equal.nans_of_first, 1);
  const TensorDifference other =
      compare_tensors(floats({1, kNan, kInfinite}), floats({1, 2, -kInfinite}), {.absolute = 1e30});
  EXPECT_EQ(other.outside, 2);
  EXPECT_EQ(other.first_outside, 1);
  EXPECT_EQ(other.nans_of_second, 0);
}

TEST(CompareTensors, ComparesLargeIntegersExactly) {
  Tensor a = *Tensor::allocate(DType::kI64, {1}), b = *Tensor::allocate(DType::kI64, {1});
  a.elements<int64_t>()[0] = INT64_MAX;
  b.elements<int64_t>()[0] = INT64_MAX - 1;
  const TensorDifference found = compare_tensors(a, b, {});
  EXPECT_EQ(found.different, 1);
  EXPECT_EQ(found.absolute.value, 1);
  EXPECT_FALSE(found.ulp.has_value());
}

TEST(CompareTensors, ReportsOtherTypesAndShapes) {
  const Tensor a = floats({1, 2});
  Tensor doubles = *Tensor::allocate(DType::kF64, {2});
  doubles.elements<double>()[0] = 1;
  doubles.elements<double>()[1] = 2.5;
  const TensorDifference types = compare_tensors(a, doubles, {});
  EXPECT_FALSE(types.has_equal_dtypes);
  EXPECT_FALSE(types.is_within());
  EXPECT_EQ(types.absolute.value, 0.5);
  const TensorDifference shapes = compare_tensors(a, floats({1}), {});
  EXPECT_FALSE(shapes.has_equal_shapes);
  EXPECT_EQ(shapes.elements, 0);
}

}  // namespace
}  // namespace scopevm::tool

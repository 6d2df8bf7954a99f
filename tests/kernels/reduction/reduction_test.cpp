// Compares reductions with plain loops for every set of reduced dims, and arg_max and cum_sum with
// expected values.
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

// x of [a,b,c] reduced over `axes` (a bit mask), with the reduced dims kept as 1.
std::vector<double> reduce(const Array& x, unsigned axes, const std::string& op) {
  int64_t size[3] = {x.dims[0], x.dims[1], x.dims[2]};
  int64_t kept[3], count = 1;
  for (int i = 0; i < 3; ++i) {
    kept[i] = (axes >> i & 1) ? 1 : size[i];
    if (axes >> i & 1) count *= size[i];
  }
  double first = op == "prod" ? 1 : op == "max" ? -INFINITY : op == "min" ? INFINITY : 0;
  std::vector<double> y(kept[0] * kept[1] * kept[2], first);
  std::vector<float> values = x.as<float>();
  int64_t at = 0;
  for (int64_t i = 0; i < size[0]; ++i)
    for (int64_t j = 0; j < size[1]; ++j)
      for (int64_t k = 0; k < size[2]; ++k) {
        double& r = y[((i % kept[0]) * kept[1] + j % kept[1]) * kept[2] + k % kept[2]];
        double v = values[at++];
        r = op == "prod"  ? r * v
            : op == "max" ? std::fmax(r, v)
            : op == "min" ? std::fmin(r, v)
                          : r + v;
      }
  if (op == "mean")
    for (double& r : y) r /= static_cast<double>(count);
  return y;
}

TEST(Reduction, EveryAxesSetAndOperator) {
  Array x = random_f32({3, 70, 37}, 5);
  for (unsigned axes = 1; axes < 8; ++axes)
    for (std::string op : {"sum", "mean", "prod", "max", "min"}) {
      std::string list, dims;
      const char* names[3] = {"a", "b", "37"};
      for (int i = 0; i < 3; ++i) {
        if (axes >> i & 1) list += (list.empty() ? "" : ", ") + std::to_string(i);
        dims += std::string(i ? "," : "") + ((axes >> i & 1) ? "1" : names[i]);
      }
      std::string text =
          one_op("%x: !sv.tensor<f32[a,b,37]>",
                 "%r = sv.reduce_" + op + " %x {axes = array<i64: " + list +
                     ">} : (!sv.tensor<f32[a,b,37]>) -> !sv.tensor<f32[" + dims + "]>",
                 "f32[" + dims + "]");
      auto out = run_text(text, {x}, axes % 2 ? "host" : "x86-64");
      ASSERT_EQ(out.size(), 1u) << op << list;
      std::vector<double> expected = reduce(x, axes, op);
      std::vector<float> y = out[0].as<float>();
      ASSERT_EQ(y.size(), expected.size());
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], expected[i], 1e-4 + 1e-5 * std::abs(expected[i]))
            << op << list << " " << i;
    }
}

TEST(Reduction, EmptyDimsReturnTheNeutralElement) {
  std::string text = one_op("%x: !sv.tensor<f32[n,m]>",
                            "%r = sv.reduce_sum %x {axes = array<i64: 1>, keep_dims = false} : "
                            "(!sv.tensor<f32[n,m]>) -> !sv.tensor<f32[n]>",
                            "f32[n]");
  auto out = run_text(text, {random_f32({3, 0}, 1)});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<float>(), (std::vector<float>{0, 0, 0}));
}

// 65520 is infinite as f16, and 257 is 256 as bf16.
TEST(Reduction, CountOfAMeanIsNotRoundedToTheElementType) {
  struct Mean {
    DType dtype;
    int64_t count;
    uint16_t element, expected;
  };
  constexpr uint16_t kHalfF16 = 0x3800, kOneAndAHalfBf16 = 0x3FC0;
  for (const Mean& mean : {Mean{DType::kF16, 65520, kHalfF16, kHalfF16},
                           Mean{DType::kBF16, 257, kOneAndAHalfBf16, kOneAndAHalfBf16}}) {
    std::string type(name(mean.dtype));
    std::string text =
        one_op("%x: !sv.tensor<" + type + "[n,m]>",
               "%r = sv.reduce_mean %x {axes = array<i64: 1>, keep_dims = false} : (!sv.tensor<" +
                   type + "[n,m]>) -> !sv.tensor<" + type + "[n]>",
               type + "[n]");
    std::vector<uint16_t> x(mean.count, mean.element);
    auto out = run_text(text, {Array::of(mean.dtype, {1, mean.count}, x)});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].as<uint16_t>(), std::vector<uint16_t>{mean.expected}) << type;
  }
}

// The sums of 50,000 equal numbers, one after the other, would have relative errors above 1e-4.
TEST(Reduction, LongSumsHaveSmallRoundingErrors) {
  constexpr int64_t kCount = 50000;
  constexpr float kElement = 0.7F;
  for (const bool is_last : {false, true}) {
    const std::vector<int64_t> dims =
        is_last ? std::vector{int64_t{16}, kCount} : std::vector{kCount, int64_t{16}};
    const std::string text =
        one_op("%x: !sv.tensor<f32[n,m]>",
               "%r = sv.reduce_mean %x {axes = array<i64: " + std::string(is_last ? "1" : "0") +
                   ">, keep_dims = false} : (!sv.tensor<f32[n,m]>) -> !sv.tensor<f32[" +
                   (is_last ? "n" : "m") + "]>",
               is_last ? "f32[n]" : "f32[m]");
    const auto out =
        run_text(text, {Array::of(DType::kF32, dims, std::vector<float>(16 * kCount, kElement))});
    ASSERT_EQ(out.size(), 1U);
    for (const float mean : out[0].as<float>()) EXPECT_NEAR(mean, kElement, 1e-5);
  }
}

// 256 is 0 as u8, 200 is negative as i8, and neither sum fits in 8 bits.
TEST(Reduction, MeanOfNarrowIntegersSumsIn64Bits) {
  struct Mean {
    DType dtype;
    int64_t count;
    uint8_t element;
  };
  for (const Mean& mean : {Mean{DType::kU8, 256, 255}, Mean{DType::kU8, 3, 200},
                           Mean{DType::kI8, 200, 0x80}, Mean{DType::kI8, 200, 100}})
    for (int axis : {0, 1}) {
      std::string type(name(mean.dtype));
      std::string text =
          one_op("%x: !sv.tensor<" + type + "[n,m]>",
                 "%r = sv.reduce_mean %x {axes = array<i64: " + std::to_string(axis) +
                     ">, keep_dims = false} : (!sv.tensor<" + type + "[n,m]>) -> !sv.tensor<" +
                     type + (axis == 0 ? "[m]>" : "[n]>"),
                 type + (axis == 0 ? "[m]" : "[n]"));
      std::vector<int64_t> dims =
          axis == 0 ? std::vector{mean.count, int64_t{1}} : std::vector{int64_t{1}, mean.count};
      std::vector<uint8_t> x(mean.count, mean.element);
      auto out = run_text(text, {Array::of(mean.dtype, dims, x)});
      ASSERT_EQ(out.size(), 1u);
      EXPECT_EQ(out[0].as<uint8_t>(), std::vector<uint8_t>{mean.element}) << type << " " << axis;
    }
}

TEST(Reduction, IntegersAndProducersInTheGroup) {
  const char* text = R"(
func.func @main(%x: !sv.tensor<i64[n,m]>) -> !sv.tensor<i64[n]> {
  %r = sv.group (%p = %x : !sv.tensor<i64[n,m]>) -> (!sv.tensor<i64[n]>) {
    %s = sv.mul %p, %p : (!sv.tensor<i64[n,m]>, !sv.tensor<i64[n,m]>) -> !sv.tensor<i64[n,m]>
    %t = sv.reduce_sum %s {axes = array<i64: 1>, keep_dims = false} : (!sv.tensor<i64[n,m]>) -> !sv.tensor<i64[n]>
    sv.yield %t : !sv.tensor<i64[n]>
  }
  return %r : !sv.tensor<i64[n]>
}
)";
  auto out = run_text(text, {Array::of<int64_t>(DType::kI64, {2, 3}, {1, 2, 3, -4, 5, 6})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<int64_t>(), (std::vector<int64_t>{14, 77}));
}

TEST(Reduction, ArgMaxTakesTheFirstOrTheLast) {
  for (bool last : {false, true}) {
    std::string text =
        one_op("%x: !sv.tensor<f32[n,4]>",
               std::string("%r = sv.arg_max %x {axis = 1, keep_dims = false, last = ") +
                   (last ? "true" : "false") + "} : (!sv.tensor<f32[n,4]>) -> !sv.tensor<i64[n]>",
               "i64[n]");
    auto out =
        run_text(text, {Array::of<float>(DType::kF32, {2, 4}, {1, 3, 3, 0, -5, -2, -9, -2})});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].as<int64_t>(),
              (last ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{1, 1}));
  }
}

// Lines of this many rows of few different elements, so that most lines have ties. For floats, some
// elements are infinite and some are NaN, and one row has only the neutral element.
template <typename T>
std::vector<T> lines_with_ties(int64_t rows, int64_t length) {
  std::mt19937 random(static_cast<unsigned>(length));
  std::vector<T> x;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < length; ++i) {
      const auto number = static_cast<int>(random() % 7);
      T value = static_cast<T>(number + static_cast<int>(row));
      if constexpr (std::is_floating_point_v<T>) {
        if (row % 3 == 1 && random() % 40 == 0) value = std::numeric_limits<T>::quiet_NaN();
        if (number == 0) value = -std::numeric_limits<T>::infinity();
        if (row == 0) value = -std::numeric_limits<T>::infinity();
      } else if (row == 0) {
        value = std::numeric_limits<T>::min();
      }
      x.push_back(value);
    }
  return x;
}

template <typename T>
int64_t arg(std::span<const T> line, bool is_max, bool wants_last) {
  int64_t best = 0;
  for (size_t i = 1; i < line.size(); ++i) {
    const T x = line[i], y = line[static_cast<size_t>(best)];
    const bool x_is_nan = x != x, y_is_nan = y != y;
    const bool is_better = x_is_nan ? !y_is_nan : !y_is_nan && (is_max ? x > y : x < y);
    const bool is_tie = x == y || (x_is_nan && y_is_nan);
    if (is_better || (is_tie && wants_last)) best = static_cast<int64_t>(i);
  }
  return best;
}

template <typename T>
void check_args(DType dtype, const std::string& target) {
  const std::string x_type = "!sv.tensor<" + std::string(name(dtype)) + "[n,m]>";
  const std::string result = "!sv.tensor<i64[n]>";
  std::string text = "func.func @main(%x: " + x_type + ") -> (" + result + ", " + result + ", " +
                     result + ", " + result + ") {\n";
  for (const bool is_max : {true, false})
    for (const bool last : {false, true})
      text += "  %" + std::string(is_max ? "max" : "min") + (last ? "1" : "0") + " = sv.arg_" +
              (is_max ? "max" : "min") +
              " %x {axis = 1, keep_dims = false, last = " + (last ? "true" : "false") + "} : (" +
              x_type + ") -> " + result + "\n";
  text += "  return %max0, %max1, %min0, %min1 : " + result + ", " + result + ", " + result + ", " +
          result + "\n}\n";
  auto runner = KernelRunner::create(text, target);
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  // The vectors of a line have 16 lanes of 4 bytes, and 4 accumulators, or less.
  for (const int64_t length : {1, 15, 16, 64, 65, 127, 128, 300}) {
    constexpr int64_t kRows = 9;
    const std::vector<T> x = lines_with_ties<T>(kRows, length);
    const auto outputs = (*runner)->run({Array::of(dtype, {kRows, length}, x)}, {.pieces = 3});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    const std::vector<Array>& out = *outputs;
    ASSERT_EQ(out.size(), 4U);
    for (int64_t row = 0; row < kRows; ++row) {
      const std::span<const T> line(x.data() + row * length, static_cast<size_t>(length));
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(out[i].as<int64_t>()[static_cast<size_t>(row)], arg(line, i < 2, i % 2 == 1))
            << name(dtype) << " length " << length << " row " << row << " case " << i;
    }
  }
}

TEST(Reduction, ArgMaxAndArgMinOfAnyLine) {
  for (const char* target : {"host", "x86-64"}) {
    check_args<float>(DType::kF32, target);
    check_args<double>(DType::kF64, target);
    check_args<uint8_t>(DType::kU8, target);
    check_args<int32_t>(DType::kI32, target);
    check_args<uint64_t>(DType::kU64, target);
  }
}

TEST(Reduction, CumSumForwardsAndBackwards) {
  auto run = [](const std::string& attributes) {
    std::string text = one_op("%x: !sv.tensor<f32[n,2]>",
                              "%r = sv.cum_sum %x {axis = 0" + attributes +
                                  "} : (!sv.tensor<f32[n,2]>) -> !sv.tensor<f32[n,2]>",
                              "f32[n,2]");
    auto out = run_text(text, {Array::of<float>(DType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6})});
    return out.empty() ? std::vector<float>() : out[0].as<float>();
  };
  EXPECT_EQ(run(""), (std::vector<float>{1, 2, 4, 6, 9, 12}));
  EXPECT_EQ(run(", exclusive = true"), (std::vector<float>{0, 0, 1, 2, 4, 6}));
  EXPECT_EQ(run(", reverse = true"), (std::vector<float>{9, 12, 8, 10, 5, 6}));
}

}  // namespace
}  // namespace scopevm::compiler::testing

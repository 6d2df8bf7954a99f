// Convolutions: padding, strides, dilations, groups, depthwise, odd sizes, dynamic images, and the
// fallback loops for weights of unknown size, three spatial dims and transposed convolution.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/kernels/reference.h"
#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

std::string attributes_text(const ConvAttributes& t) {
  return "{strides = " + list(t.strides) + ", pads = " + list(t.pads) +
         ", dilations = " + list(t.dilations) + ", group = " + std::to_string(t.group) + " : i64}";
}

// The dim expression of one axis of the result, for the input dim `in`. `pads` is the sum of the
// pads before and after the axis.
std::string out_dim(const std::string& in, int64_t kernel, int64_t stride, int64_t pads,
                    int64_t dilation) {
  int64_t offset = pads - dilation * (kernel - 1) - 1;
  return "\"floordiv(" + in + (offset < 0 ? "-" : "+") + std::to_string(std::abs(offset)) + ", " +
         std::to_string(stride) + ")+1\"";
}

struct ConvCase {
  const char* name;
  std::vector<int64_t> x, w;  // dims of the input and of the weights
  ConvAttributes attributes;
};

const ConvCase kCases[] = {
    {"same3x3", {2, 5, 9, 11}, {14, 5, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 1}},
    {"same3x3_7x7", {1, 20, 7, 7}, {40, 20, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 1}},
    {"valid3x3", {1, 3, 20, 40}, {8, 3, 3, 3}, {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1}},
    {"wide_pads", {1, 3, 4, 5}, {8, 3, 3, 3}, {{1, 1}, {3, 3, 3, 3}, {1, 1}, 1}},
    {"pointwise", {2, 40, 8, 8}, {30, 40, 1, 1}, {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1}},
    {"pointwise_deep", {1, 1100, 5, 5}, {250, 1100, 1, 1}, {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1}},
    {"pointwise_stride2", {1, 16, 9, 9}, {12, 16, 1, 1}, {{2, 2}, {0, 0, 0, 0}, {1, 1}, 1}},
    {"stem7x7", {1, 3, 37, 41}, {16, 3, 7, 7}, {{2, 2}, {3, 3, 3, 3}, {1, 1}, 1}},
    {"stride2_uneven_pads", {1, 4, 10, 10}, {6, 4, 3, 3}, {{2, 2}, {0, 0, 1, 1}, {1, 1}, 1}},
    {"strides_differ", {1, 4, 12, 33}, {6, 4, 3, 3}, {{2, 1}, {1, 1, 1, 1}, {1, 1}, 1}},
    {"stride_jumps_back", {1, 2, 30, 6}, {3, 2, 1, 1}, {{1, 3}, {0, 4, 0, 9}, {1, 1}, 1}},
    {"dilated", {1, 4, 14, 15}, {6, 4, 3, 3}, {{1, 1}, {2, 2, 2, 2}, {2, 2}, 1}},
    {"rectangular", {1, 3, 5, 60}, {24, 3, 1, 7}, {{1, 1}, {0, 3, 0, 3}, {1, 1}, 1}},
    {"groups", {2, 8, 9, 9}, {28, 4, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 2}},
    {"no_channels", {2, 0, 9, 11}, {14, 0, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 1}},
    {"depthwise", {2, 6, 10, 35}, {6, 1, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 6}},
    {"depthwise_5x5_stride2", {1, 6, 13, 43}, {6, 1, 5, 5}, {{2, 2}, {2, 2, 2, 2}, {1, 1}, 6}},
    {"depthwise_stride_2_1", {1, 6, 13, 43}, {6, 1, 5, 5}, {{2, 1}, {2, 2, 2, 2}, {1, 1}, 6}},
    {"depthwise_multiplier", {1, 4, 9, 9}, {12, 1, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {2, 2}, 4}},
};

// If `is_constant`, the weights are a constant of the graph; otherwise they are its second input.
std::string conv_text(const ConvCase& t, const Array& w, const Array& bias, bool is_constant) {
  const ConvAttributes& a = t.attributes;
  std::string channels = std::to_string(t.x[1]), rows = std::to_string(t.w[0]);
  std::string x_type = tensor_type("n, " + channels + ", h, w");
  std::string y_type =
      tensor_type("n, " + rows + ", " +
                  out_dim("h", t.w[2], a.strides[0], a.pads[0] + a.pads[2], a.dilations[0]) + ", " +
                  out_dim("w", t.w[3], a.strides[1], a.pads[1] + a.pads[3], a.dilations[1]));
  return "func.func @main(%x: " + x_type + (is_constant ? "" : ", %w: " + static_type(w)) +
         ") -> " + y_type + " {\n" + (is_constant ? constant_text("w", w) : "") +
         constant_text("b", bias) + "  %y = sv.conv %x, %w, %b " + attributes_text(a) + " : (" +
         x_type + ", " + static_type(w) + ", " + static_type(bias) + ") -> " + y_type +
         "\n  return %y : " + y_type + "\n}\n";
}

// Compares the convolution of images of each size with loops.
void check_conv(const ConvCase& t, const char* cpu, bool is_constant,
                const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  const ConvAttributes& a = t.attributes;
  Array w = random_f32(t.w, 1), bias = random_f32({t.w[0]}, 2);
  std::string text = conv_text(t, w, bias, is_constant);
  auto runner = KernelRunner::create(text, cpu);
  ASSERT_TRUE(runner.ok()) << runner.status().message() << text.substr(0, 300);
  for (auto [height, width] : sizes) {
    SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width));
    Array x = random_f32({t.x[0], t.x[1], height, width}, 3);
    std::vector<int64_t> dims;
    std::vector<double> expected = reference_conv(x, w, a, dims);
    std::vector<float> bias_values = bias.as<float>();
    int64_t area = dims[2] * dims[3];
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += bias_values[i / area % dims[1]];
    std::vector<Array> inputs = {x};
    if (!is_constant) inputs.push_back(w);
    auto outputs = (*runner)->run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(outputs->front().dims, dims);
    expect_near(outputs->front(), expected, t.name);
  }
}

void check_conv(const ConvCase& t, const char* cpu, bool is_constant) {
  check_conv(t, cpu, is_constant, {{t.x[2], t.x[3]}});
}

class Conv : public ::testing::TestWithParam<std::tuple<const char*, ConvCase>> {};
class Depthwise : public Conv {};

TEST_P(Conv, AgreesWithLoops) {
  const auto& [cpu, t] = GetParam();
  check_conv(t, cpu, /*is_constant=*/true);
}

std::string name_of(const ::testing::TestParamInfo<Conv::ParamType>& info) {
  std::string name = std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<ConvCase> every_fourth_case() {
  std::vector<ConvCase> cases;
  for (size_t i = 0; i < std::size(kCases); i += 4) cases.push_back(kCases[i]);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Conv,
                         ::testing::Combine(::testing::Values("host", "x86-64-v3"),
                                            ::testing::ValuesIn(kCases)),
                         name_of);
// Kernels for narrow vectors have the same structure and take 3 to 4 s each to compile, so only
// every fourth case runs.
INSTANTIATE_TEST_SUITE_P(Baseline, Conv,
                         ::testing::Combine(::testing::Values("x86-64"),
                                            ::testing::ValuesIn(every_fourth_case())),
                         name_of);

// Images that are smaller than a tile or a vector, and ones that end in a part of one.
TEST_P(Depthwise, AgreesWithLoopsAtAnySize) {
  const auto& [cpu, t] = GetParam();
  const ConvAttributes& a = t.attributes;
  // The size of the padded image is at least that of the kernel.
  const auto least = [&](int axis) {
    return std::max<int64_t>((t.w[2 + axis] - 1) * a.dilations[axis] + 1 - 2 * a.pads[axis], 1);
  };
  std::vector<std::pair<int64_t, int64_t>> sizes;
  for (int64_t height : {1, 2, 5, 7, 8, 9, 14, 17, 33})
    for (int64_t width = least(1); width < 72; width += width < 40 ? 1 : 7)
      if (height >= least(0)) sizes.emplace_back(height, width);
  check_conv(t, cpu, /*is_constant=*/true, sizes);
}

const ConvCase kDepthwiseCases[] = {
    {"k3", {2, 2}, {2, 1, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 2}},
    {"k3_stride2", {1, 2}, {2, 1, 3, 3}, {{2, 2}, {1, 1, 1, 1}, {1, 1}, 2}},
    {"k3_uneven", {1, 2}, {2, 1, 3, 3}, {{2, 2}, {0, 0, 0, 0}, {1, 1}, 2}},
    {"k3_dilated", {1, 2}, {2, 1, 3, 3}, {{1, 1}, {2, 2, 2, 2}, {2, 2}, 2}},
    {"k3_dilated_stride2", {1, 2}, {2, 1, 3, 3}, {{2, 2}, {3, 3, 3, 3}, {3, 3}, 2}},
    {"k3_strides_3_1", {1, 2}, {2, 1, 3, 3}, {{3, 1}, {1, 1, 1, 1}, {1, 1}, 2}},
    {"k5_strides_1_2", {1, 4}, {8, 1, 5, 5}, {{1, 2}, {2, 2, 2, 2}, {1, 1}, 4}},
    {"k1x4", {1, 2}, {2, 1, 1, 4}, {{1, 2}, {0, 1, 0, 1}, {1, 1}, 2}},
    {"k7", {1, 2}, {2, 1, 7, 7}, {{1, 1}, {3, 3, 3, 3}, {1, 1}, 2}},
    {"stride3", {1, 2}, {2, 1, 3, 3}, {{1, 3}, {1, 1, 1, 1}, {1, 1}, 2}},
};

INSTANTIATE_TEST_SUITE_P(All, Depthwise,
                         ::testing::Combine(::testing::Values("host", "x86-64-v3"),
                                            ::testing::ValuesIn(kDepthwiseCases)),
                         name_of);

// Random convolutions, each of images of several sizes: widths of the last panel, and numbers of
// panels and tiles, that the cases above do not have.
TEST(RandomConvolutions, AgreeWithLoops) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 24 : std::atoi(count);
  std::mt19937 random(12345);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < cases; ++i) {
    const int64_t groups = pick(0, 2) == 0 ? pick(1, 4) : 1;
    const int64_t channels = pick(1, pick(0, 4) == 0 ? 150 : 20), rows = pick(1, 40);
    ConvCase t{"random", {pick(1, 2), channels * groups}, {rows * groups, channels}, {}};
    t.attributes.group = groups;
    t.attributes.pads.assign(4, 0);
    int64_t least[2];
    for (int axis : {0, 1}) {
      const int64_t kernel = pick(1, 4), dilation = pick(1, 2);
      t.w.push_back(kernel);
      t.attributes.strides.push_back(pick(1, 3));
      t.attributes.dilations.push_back(dilation);
      int64_t pads = 0;
      for (int side : {0, 2}) pads += t.attributes.pads[axis + side] = pick(0, kernel - 1);
      least[axis] = std::max<int64_t>((kernel - 1) * dilation + 1 - pads, 1);
    }
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (int size = 0; size < 4; ++size)
      sizes.emplace_back(least[0] + pick(0, 14), least[1] + pick(0, 40));
    SCOPED_TRACE("case " + std::to_string(i) + ": " + attributes_text(t.attributes));
    check_conv(t, i % 3 == 0 ? "x86-64-v3" : "host", i % 4 != 0, sizes);
    if (HasFatalFailure()) return;
  }
}

TEST(ConvWeights, CanBeInputs) {
  for (const ConvCase& t : kCases) check_conv(t, "host", /*is_constant=*/false);
}

TEST(ConvLoops, WeightsOfUnknownSize) {
  std::string x = tensor_type("1, 3, 6, 6"), w = tensor_type("m, 3, 3, 3"),
              y = tensor_type("1, m, 6, 6");
  ConvAttributes a{{1, 1}, {1, 1, 1, 1}, {1, 1}, 1};
  auto runner = KernelRunner::create("func.func @main(%x: " + x + ", %w: " + w + ") -> " + y +
                                     " {\n  %y = sv.conv %x, %w " + attributes_text(a) + " : (" +
                                     x + ", " + w + ") -> " + y + "\n  return %y : " + y + "\n}\n");
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  Array xv = random_f32({1, 3, 6, 6}, 1), wv = random_f32({4, 3, 3, 3}, 2);
  auto outputs = (*runner)->run({xv, wv});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  std::vector<int64_t> dims;
  expect_near(outputs->front(), reference_conv(xv, wv, a, dims), "dynamic weights");
}

TEST(ConvLoops, ThreeDims) {
  // All elements are 1, so each output is the number of elements in its window.
  std::string x = tensor_type("1, 1, 3, 3, 3"), w = tensor_type("1, 1, 2, 2, 2"),
              y = tensor_type("1, 1, 2, 2, 2");
  auto runner = KernelRunner::create(
      "func.func @main(%x: " + x + ", %w: " + w + ") -> " + y + " {\n  %y = sv.conv %x, %w " +
      attributes_text({{2, 2, 2}, {1, 1, 1, 0, 0, 0}, {1, 1, 1}, 1}) + " : (" + x + ", " + w +
      ") -> " + y + "\n  return %y : " + y + "\n}\n");
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  Array xv = Array::of(DType::kF32, {1, 1, 3, 3, 3}, std::vector<float>(27, 1.0f));
  Array wv = Array::of(DType::kF32, {1, 1, 2, 2, 2}, std::vector<float>(8, 1.0f));
  auto outputs = (*runner)->run({xv, wv});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs->front().as<float>(), (std::vector<float>{1, 2, 2, 4, 2, 4, 4, 8}));
}

TEST(ConvLoops, TransposedScattersEachElement) {
  std::string x = tensor_type("1, 1, 2, 2"), w = tensor_type("1, 1, 2, 2"),
              y = tensor_type("1, 1, 4, 4");
  auto runner = KernelRunner::create(
      "func.func @main(%x: " + x + ", %w: " + w + ") -> " + y +
      " {\n  %y = sv.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, "
      "0>, dilations = array<i64: 1, 1>, output_pads = array<i64: 0, 0>, group = 1 : i64} : (" +
      x + ", " + w + ") -> " + y + "\n  return %y : " + y + "\n}\n");
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  Array xv = Array::of<float>(DType::kF32, {1, 1, 2, 2}, {1, 2, 3, 4});
  Array wv = Array::of<float>(DType::kF32, {1, 1, 2, 2}, {1, 10, 100, 1000});
  auto outputs = (*runner)->run({xv, wv});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(outputs->front().as<float>(), (std::vector<float>{1, 10, 2, 20, 100, 1000, 200, 2000, 3,
                                                              30, 4, 40, 300, 3000, 400, 4000}));
}

}  // namespace
}  // namespace scopevm::compiler::testing

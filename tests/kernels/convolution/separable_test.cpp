// Random separable convolutions: a convolution with one group per channel, relu, and a convolution
// of single pixels with a bias and a residual input. Inverted residual blocks begin with one more
// convolution of single pixels. One kernel computes them. Its results equal those of the kernels by
// channel, and those of an inverted residual block equal those of separate kernels exactly.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

struct SeparableCase {
  int64_t channels = 32, rows = 16, kernel = 3, stride = 1, pad = 1, dilation = 1;
  int64_t inputs = 0;  // channels before the first convolution of single pixels; 0: there is none
  bool is_static = false, adds_input = false;
  bool has_long_epilogue = false;  // the first convolution is followed by tanh instead of relu

  int64_t first_channels() const { return inputs == 0 ? channels : inputs; }
  // Whether the last op adds the first image.
  bool adds_first() const { return adds_input && inputs == rows && out(64) == 64; }

  int64_t offset() const { return 2 * pad - (kernel - 1) * dilation - 1; }
  int64_t out(int64_t size) const { return (size + offset()) / stride + 1; }
};

std::string dim(const SeparableCase& t, const std::string& symbol, int64_t size, bool is_result) {
  if (t.is_static) return std::to_string(is_result ? t.out(size) : size);
  if (!is_result) return symbol;
  const int64_t offset = t.offset();
  return "\"floordiv(" + symbol + (offset < 0 ? "-" : "+") + std::to_string(std::abs(offset)) +
         ", " + std::to_string(t.stride) + ")+1\"";
}

// `stores_image`: the expanded image is a result, too, so that a separate kernel computes it.
std::string text_of(const SeparableCase& t, int64_t height, int64_t width,
                    bool stores_image = false) {
  const auto image = [&](int64_t channels, bool is_result) {
    return tensor_type("n, " + std::to_string(channels) + ", " + dim(t, "h", height, is_result) +
                       ", " + dim(t, "w", width, is_result));
  };
  const auto attributes = [](int64_t stride, int64_t pad, int64_t dilation, int64_t group) {
    const std::string p = std::to_string(pad), s = std::to_string(stride);
    const std::string d = std::to_string(dilation);
    return "{strides = array<i64: " + s + ", " + s + ">, pads = array<i64: " + p + ", " + p + ", " +
           p + ", " + p + ">, dilations = array<i64: " + d + ", " + d +
           ">, group = " + std::to_string(group) + " : i64}";
  };
  const Array v = random_f32({t.channels, 1, t.kernel, t.kernel}, 1);
  const Array w = random_f32({t.rows, t.channels, 1, 1}, 2), b = random_f32({t.rows}, 3);
  const std::string x = image(t.channels, false), y = image(t.channels, true),
                    z = image(t.rows, true), to = "(" + z + ", " + z + ") -> " + z + "\n";
  const std::string first = image(t.first_channels(), false);
  std::string expansion;
  if (t.inputs != 0) {
    const Array u = random_f32({t.channels, t.inputs, 1, 1}, 6), a = random_f32({t.channels}, 7);
    expansion = constant_text("u", u) + constant_text("a0", a) + "  %e = sv.conv %x, %u, %a0 " +
                attributes(1, 0, 1, 1) + " : (" + first + ", " + static_type(u) + ", " +
                static_type(a) + ") -> " + x + "\n  %f = sv." +
                (t.has_long_epilogue ? "tanh" : "relu") + " %e : (" + x + ") -> " + x + "\n";
  }
  const std::string results = stores_image ? z + ", " + x : z;
  return "func.func @main(%x: " + first + ", %z: " + z + ") -> (" + results + ") {\n" + expansion +
         constant_text("v", v) + constant_text("w", w) + constant_text("b", b) + "  %c = sv.conv " +
         (t.inputs == 0 ? "%x" : "%f") + ", %v " +
         attributes(t.stride, t.pad, t.dilation, t.channels) + " : (" + x + ", " + static_type(v) +
         ") -> " + y + "\n  %a = sv.relu %c : (" + y + ") -> " + y +
         "\n  %d = sv.conv %a, %w, %b " + attributes(1, 0, 1, 1) + " : (" + y + ", " +
         static_type(w) + ", " + static_type(b) + ") -> " + z + "\n" +
         (t.adds_first() ? "  %r = sv.add %d, %x : "
          : t.adds_input ? "  %r = sv.add %d, %z : "
                         : "  %r = sv.mul %d, %d : ") +
         to + "  return %r" + (stores_image ? ", %f" : "") + " : " + results + "\n}\n";
}

void check(const SeparableCase& t, const char* cpu,
           const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  const std::string text = text_of(t, sizes.front().first, sizes.front().second);
  auto fused = KernelRunner::create(text, cpu, /*fuse=*/true, ImageLayout::kBlocked);
  auto by_channel = KernelRunner::create(text, "host");
  ASSERT_TRUE(fused.ok()) << fused.status().message() << text.substr(0, 300);
  ASSERT_TRUE(by_channel.ok()) << by_channel.status().message();
  int convolutions = 0;
  for (const std::string& step : (*fused)->steps()) {
    EXPECT_EQ(step.find("depthwise"), std::string::npos) << step;
    EXPECT_EQ(step.find(" blocked_conv"), std::string::npos) << step;
    if (step.find(t.inputs == 0 ? "separable_conv" : "inverted_residual") != std::string::npos)
      ++convolutions;
  }
  EXPECT_EQ(convolutions, 1);
  auto separate = KernelRunner::create(
      text_of(t, sizes.front().first, sizes.front().second, /*stores_image=*/t.inputs != 0), cpu,
      /*fuse=*/true, ImageLayout::kBlocked);
  ASSERT_TRUE(separate.ok()) << separate.status().message();
  for (auto [height, width] : sizes) {
    SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width));
    const std::vector<Array> inputs = {random_f32({2, t.first_channels(), height, width}, 4),
                                       random_f32({2, t.rows, t.out(height), t.out(width)}, 5)};
    const std::vector<Array> actual = run_both(**fused, **by_channel, inputs);
    if (::testing::Test::HasFailure()) return;
    if (t.inputs != 0) {
      auto exact = (*separate)->run(inputs);
      ASSERT_TRUE(exact.ok()) << exact.status().message();
      ASSERT_EQ(actual.front().bytes, exact->front().bytes);
    }
  }
}

TEST(SeparableConv, AgreesWithConvolutionsByChannel) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 12 : std::atoi(count);
  std::mt19937 random(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < cases; ++i) {
    SeparableCase t{.channels = 16 * pick(2, 6), .rows = pick(2, 70), .kernel = pick(1, 5)};
    t.stride = pick(1, 2);
    // Images of unknown size are represented by 64 x 64 pixels.
    if (t.stride == 2) t.channels = 16 * pick(8, 10);
    t.dilation = pick(0, 3) == 0 ? 2 : 1;
    t.pad = pick(0, 1) * (t.kernel - 1) * t.dilation / 2;
    t.is_static = pick(0, 2) == 0;
    t.adds_input = pick(0, 1) == 0;
    std::vector<std::pair<int64_t, int64_t>> sizes;
    if (t.is_static)
      sizes.emplace_back(pick(64, 70) * t.stride, pick(64, 80) * t.stride);
    else
      for (int size = 0; size < 4; ++size) sizes.emplace_back(9 + pick(0, 20), 9 + pick(0, 40));
    SCOPED_TRACE("case " + std::to_string(i) + ": channels " + std::to_string(t.channels) +
                 ", rows " + std::to_string(t.rows) + ", kernel " + std::to_string(t.kernel) +
                 ", stride " + std::to_string(t.stride) + ", pad " + std::to_string(t.pad) +
                 ", dilation " + std::to_string(t.dilation) + (t.is_static ? ", static" : ""));
    check(t, i % 3 == 0 ? "x86-64-v3" : i % 10 == 1 ? "x86-64" : "host", sizes);
    if (HasFailure()) return;
  }
}

TEST(SeparableConv, InvertedResidualBlocksAgree) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 12 : std::atoi(count);
  std::mt19937 random(8);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < cases; ++i) {
    // Images of unknown size are represented by 64 x 64 pixels.
    SeparableCase t{.rows = pick(2, 70), .kernel = pick(1, 5), .inputs = pick(5, 50)};
    t.stride = pick(1, 2);
    t.pad = pick(0, 2) == 0 ? 0 : (t.kernel - 1) / 2;
    t.dilation = t.kernel <= 3 && pick(0, 3) == 0 ? 2 : 1;
    if (t.dilation == 2) t.pad *= 2;
    const int64_t repeated = (t.kernel - 1) * t.dilation + 1 - t.stride;
    // 16 channels of 64 x 64 pixels have a quarter of a MiB.
    t.channels = 16 * (pick(0, 2) + std::max<int64_t>(4 + 4 * repeated / t.stride, 6 * t.stride));
    t.is_static = pick(0, 3) == 0;
    t.adds_input = pick(0, 1) == 0;
    if (pick(0, 1) == 0) t.rows = t.inputs;
    t.has_long_epilogue = pick(0, 3) == 0;
    std::vector<std::pair<int64_t, int64_t>> sizes;
    if (t.is_static)
      sizes.emplace_back(pick(66, 70), pick(66, 80));
    else
      for (int size = 0; size < 4; ++size) sizes.emplace_back(9 + pick(0, 40), 9 + pick(0, 30));
    SCOPED_TRACE("case " + std::to_string(i) + ": inputs " + std::to_string(t.inputs) +
                 ", channels " + std::to_string(t.channels) + ", rows " + std::to_string(t.rows) +
                 ", kernel " + std::to_string(t.kernel) + ", stride " + std::to_string(t.stride) +
                 ", pad " + std::to_string(t.pad) + ", dilation " + std::to_string(t.dilation) +
                 (t.is_static ? ", static" : "") + (t.adds_first() ? ", adds the input" : ""));
    check(t, i % 3 == 0 ? "x86-64-v3" : i % 10 == 1 ? "x86-64" : "host", sizes);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing

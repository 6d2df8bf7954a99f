// Random chains of convolutions of single pixels, convolutions with one group per channel, and
// elementwise ops. Whatever groups the compiler makes of them, they have kernels, and the results
// equal those of the kernels by channel.
#include <gtest/gtest.h>

#include <random>

#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

// The text of a graph, one op after the other. All images are [n, channels, h, w].
class Chain {
 public:
  explicit Chain(int64_t channels) : first_channels_(channels), channels_(channels) {
    text_ = "func.func @main(%y0: " + image() + ") -> ";
  }

  void add_pointwise(int64_t rows) { add_conv(random_f32({rows, channels_, 1, 1}, next()), 0, 1); }
  void add_depthwise() { add_conv(random_f32({channels_, 1, 3, 3}, next()), 1, channels_); }
  void add_tanh() { add("sv.tanh " + last(), image()); }
  void add_sum() { add("sv.add " + last() + ", %y0", image() + ", " + image()); }
  // Whether the first image can be added.
  bool has_first_channels() const { return channels_ == first_channels_; }

  std::string str() const {
    return text_ + image() + " {\n" + body_ + "  return " + last() + " : " + image() + "\n}\n";
  }

 private:
  std::string image() const { return tensor_type("n, " + std::to_string(channels_) + ", h, w"); }
  std::string last() const { return "%y" + std::to_string(count_); }
  int next() const { return count_ + 1; }

  void add_conv(const Array& w, int64_t pad, int64_t group) {
    const std::string name = "w" + std::to_string(next()), p = std::to_string(pad);
    body_ += constant_text(name, w);
    const std::string call =
        "sv.conv " + last() + ", %" + name +
        " {strides = array<i64: 1, 1>, pads = array<i64: " + p + ", " + p + ", " + p + ", " + p +
        ">, dilations = array<i64: 1, 1>, group = " + std::to_string(group) + " : i64}";
    const std::string operands = image() + ", " + static_type(w);
    channels_ = w.dims[0];
    add(call, operands);
  }
  void add(const std::string& call, const std::string& operands) {
    ++count_;
    body_ += "  " + last() + " = " + call + " : (" + operands + ") -> " + image() + "\n";
  }

  const int64_t first_channels_;
  int64_t channels_;
  int count_ = 0;
  std::string text_, body_;
};

TEST(BlockedChains, AgreeWithConvolutionsByChannel) {
  std::mt19937 random(3);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  size_t shared = 0;  // kernels of several convolutions
  for (int i = 0; i < 10; ++i) {
    // Images of unknown size are represented by 64 x 64 pixels: those of 32 channels are large
    // enough for separable convolutions, and those of 192 channels for inverted residual blocks.
    const int64_t channels = 16 * pick(1, 6);
    Chain chain(channels);
    for (int64_t op = pick(2, 4); op > 0; --op) {
      const int64_t kind = pick(0, 9);
      if (kind < 8) {
        if (kind > 1) chain.add_depthwise();
        if (pick(0, 2) == 0) chain.add_tanh();
        if (kind < 7) chain.add_pointwise(pick(0, 1) == 0 ? 8 * pick(2, 16) : 16 * pick(12, 14));
      } else if (chain.has_first_channels()) {
        chain.add_sum();
      }
    }
    SCOPED_TRACE("chain " + std::to_string(i));
    auto fused = KernelRunner::create(chain.str(), "host", /*fuse=*/true, ImageLayout::kBlocked);
    auto by_channel = KernelRunner::create(chain.str(), "host");
    ASSERT_TRUE(fused.ok()) << fused.status().message();
    ASSERT_TRUE(by_channel.ok()) << by_channel.status().message();
    for (const std::string& step : (*fused)->steps())
      shared += step.find("separable_conv") != std::string::npos ||
                step.find("inverted_residual") != std::string::npos;
    const std::vector<Array> inputs = {random_f32({1, channels, pick(3, 20), pick(3, 20)}, 4)};
    run_both(**fused, **by_channel, inputs);
    if (HasFailure()) return;
  }
  EXPECT_GT(shared, 8U);
}

}  // namespace
}  // namespace scopevm::compiler::testing

// Convolutions of images whose rows have an unknown number of pixels, which is small at the
// representative dims: tiles of several rows compute short rows.
#include <gtest/gtest.h>

#include <random>

#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

// A convolution of every eighth pixel of x, and the sum of the result with z.
std::string short_rows_text(int64_t channels, int64_t rows) {
  const auto image = [](int64_t count, const std::string& h, const std::string& w) {
    return tensor_type("n, " + std::to_string(count) + ", " + h + ", " + w);
  };
  const std::string h = "\"floordiv(h-1, 8)+1\"", w = "\"floordiv(w-1, 8)+1\"";
  const std::string x = image(channels, "h", "w"), p = image(channels, h, w), z = image(rows, h, w);
  const Array v = random_f32({rows, channels, 3, 3}, 1);
  return "func.func @main(%x: " + x + ", %z: " + z + ") -> " + z + " {\n" + constant_text("v", v) +
         "  %p = sv.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 8, 8>, "
         "pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (" +
         x + ") -> " + p +
         "\n  %c = sv.conv %p, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, "
         "dilations = array<i64: 1, 1>, group = 1 : i64} : (" +
         p + ", " + static_type(v) + ") -> " + z + "\n  %r = sv.add %c, %z : (" + z + ", " + z +
         ") -> " + z + "\n  return %r : " + z + "\n}\n";
}

TEST(ShortRows, AgreeWithConvolutionsByChannel) {
  std::mt19937 random(9);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  // With 256 channels, the sums of the parts of the depth are stored.
  for (const int64_t channels : {int64_t{20}, int64_t{48}, int64_t{256}}) {
    const int64_t rows = channels == 256 ? 32 : pick(9, 60);
    const std::string text = short_rows_text(channels, rows);
    auto blocked = KernelRunner::create(text, "host", /*fuse=*/true, ImageLayout::kBlocked);
    auto by_channel = KernelRunner::create(text, "host");
    ASSERT_TRUE(blocked.ok()) << blocked.status().message();
    ASSERT_TRUE(by_channel.ok()) << by_channel.status().message();
    for (int64_t width = 1; width <= 17; ++width) {
      const int64_t height = pick(1, 9);
      SCOPED_TRACE(std::to_string(channels) + " channels, " + std::to_string(height) + "x" +
                   std::to_string(width));
      const std::vector<Array> inputs = {random_f32({1, channels, 8 * height, 8 * width - 7}, 2),
                                         random_f32({1, rows, height, width}, 3)};
      run_both(**blocked, **by_channel, inputs);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace scopevm::compiler::testing

// Random convolutions by channel that become convolutions of blocked images: transposed ones, those
// with groups, and those with few output channels. Their results equal those of the kernels by
// channel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>

#include "tests/kernels/reference.h"
#include "tests/kernels/run_text.h"

namespace scopevm::compiler::testing {
namespace {

std::string offset_text(int64_t offset) {
  return offset == 0 ? "" : (offset < 0 ? "" : "+") + std::to_string(offset);
}

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

struct LayoutCase {
  bool is_transposed = false, has_bias = false, is_static = false;
  int64_t images = 1, channels = 1, rows = 1, group = 1;
  std::vector<int64_t> kernel, strides, pads = {0, 0, 0, 0}, dilations, output_pads;

  // size * stride + offset elements, or floordiv(size + offset, stride) + 1.
  int64_t offset(int axis) const {
    const int64_t span = (kernel[axis] - 1) * dilations[axis] + 1;
    const int64_t all_pads = pads[axis] + pads[axis + 2];
    return is_transposed ? span - strides[axis] - all_pads + output_pads[axis] : all_pads - span;
  }
  std::string out_text(int axis, const std::string& size, int64_t number) const {
    if (is_static)
      return std::to_string(is_transposed
                                ? number * strides[axis] + offset(axis)
                                : floor_quotient(number + offset(axis), strides[axis]) + 1);
    const std::string stride = std::to_string(strides[axis]);
    if (is_transposed) return "\"" + size + "*" + stride + offset_text(offset(axis)) + "\"";
    return "\"floordiv(" + size + offset_text(offset(axis)) + ", " + stride + ")+1\"";
  }
  int64_t least_size(int axis) const {
    if (!is_transposed) return std::max<int64_t>(1, -offset(axis));
    return std::max<int64_t>(1, (strides[axis] - 1 - offset(axis)) / strides[axis]);
  }
};

std::string layout_text(const LayoutCase& t, const Array& w, const Array& bias, int64_t height,
                        int64_t width) {
  const std::string h = t.is_static ? std::to_string(height) : "h",
                    v = t.is_static ? std::to_string(width) : "w";
  const std::string x = tensor_type("n, " + std::to_string(t.channels) + ", " + h + ", " + v);
  const std::string y = tensor_type("n, " + std::to_string(t.rows) + ", " +
                                    t.out_text(0, "h", height) + ", " + t.out_text(1, "w", width));
  return "func.func @main(%x: " + x + ", %z: " + y + ") -> " + y + " {\n" + constant_text("w", w) +
         (t.has_bias ? constant_text("b", bias) : "") +
         (t.is_transposed ? "  %y = sv.conv_transpose %x, %w" : "  %y = sv.conv %x, %w") +
         (t.has_bias ? ", %b" : "") + " {strides = " + list(t.strides) +
         ", pads = " + list(t.pads) + ", dilations = " + list(t.dilations) +
         (t.is_transposed ? ", output_pads = " + list(t.output_pads) : "") +
         ", group = " + std::to_string(t.group) + " : i64} : (" + x + ", " + static_type(w) +
         (t.has_bias ? ", " + static_type(bias) : "") + ") -> " + y + "\n  %s = sv.add %y, %z : (" +
         y + ", " + y + ") -> " + y + "\n  %r = sv.relu %s : (" + y + ") -> " + y +
         "\n  return %r : " + y + "\n}\n";
}

// `is_blocked`: the expected layout. Empty: either layout.
void check(const LayoutCase& t, const char* cpu,
           const std::vector<std::pair<int64_t, int64_t>>& sizes,
           std::optional<bool> is_blocked = true) {
  std::vector<int64_t> dims = {t.rows, t.channels / t.group};
  if (t.is_transposed) dims = {t.channels, t.rows / t.group};
  dims.insert(dims.end(), t.kernel.begin(), t.kernel.end());
  const Array w = random_f32(dims, 1), bias = random_f32({t.rows}, 2);
  std::unique_ptr<KernelRunner> blocked, by_channel;
  for (auto [height, width] : sizes) {
    SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width));
    if (!blocked || t.is_static) {
      const std::string text = layout_text(t, w, bias, height, width);
      auto first = KernelRunner::create(text, cpu, /*fuse=*/true, ImageLayout::kBlocked);
      auto second = KernelRunner::create(text, "host");
      ASSERT_TRUE(first.ok()) << first.status().message() << text.substr(0, 300);
      ASSERT_TRUE(second.ok()) << second.status().message();
      blocked = *std::move(first);
      by_channel = *std::move(second);
      const std::vector<std::string> steps = blocked->steps();
      const auto has_step = [&](const char* name) {
        return std::any_of(steps.begin(), steps.end(), [&](const std::string& step) {
          return step.find(name) != std::string::npos;
        });
      };
      if (is_blocked) EXPECT_EQ(has_step(" blocked_"), *is_blocked);
      if (t.is_transposed) EXPECT_FALSE(has_step("conv_transpose_loops"));
    }
    const auto size = [&](int axis, int64_t number) {
      return t.is_transposed ? number * t.strides[axis] + t.offset(axis)
                             : floor_quotient(number + t.offset(axis), t.strides[axis]) + 1;
    };
    const std::vector<Array> inputs = {
        random_f32({t.images, t.channels, height, width}, 3),
        random_f32({t.images, t.rows, size(0, height), size(1, width)}, 4)};
    run_both(*blocked, *by_channel, inputs);
    if (::testing::Test::HasFailure()) return;
  }
}

std::string description(const LayoutCase& t) {
  return (t.is_transposed ? "transposed, channels " : "channels ") + std::to_string(t.channels) +
         ", rows " + std::to_string(t.rows) + ", group " + std::to_string(t.group) + ", kernel " +
         list(t.kernel) + ", strides " + list(t.strides) + ", pads " + list(t.pads) +
         ", dilations " + list(t.dilations) + ", output_pads " + list(t.output_pads) +
         (t.is_static ? ", static" : "");
}

TEST(BlockedLayout, ConvolutionsAgreeWithThoseByChannel) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 30 : std::atoi(count);
  std::mt19937 random(99);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < cases; ++i) {
    LayoutCase t{.is_transposed = pick(0, 2) != 0,
                 .has_bias = pick(0, 1) == 0,
                 .is_static = pick(0, 2) == 0,
                 .images = pick(1, 2)};
    if (t.is_transposed) {
      t.channels = pick(2, pick(0, 3) == 0 ? 100 : 30);
      t.rows = pick(2, pick(0, 3) == 0 ? 100 : 30);
    } else if (pick(0, 1) == 0) {  // adjacent pixels form a block
      t.channels = pick(1, pick(0, 1) == 0 ? 4 : 40);
      t.rows = pick(2, 8);
    } else {
      const int64_t sizes[] = {1, 2, 4, 8, 16, 32};
      const int64_t group_channels = sizes[pick(0, 5)];
      const int64_t merged = std::max<int64_t>(16 / group_channels, 1);
      t.group = merged * pick(1, 3);
      t.channels = t.group * group_channels;
      // Groups that become one have whole blocks of rows.
      t.rows = t.group * std::max<int64_t>(16 / merged, 1) * pick(1, 3);
      if (group_channels < 16 && pick(0, 1) == 0) {  // narrow groups
        t.group = pick(2, 9);
        t.channels = t.rows = t.group * group_channels;
      }
    }
    for (int axis : {0, 1}) {
      const int64_t kernel = pick(1, 5), stride = pick(1, t.is_transposed ? 4 : 2);
      t.kernel.push_back(kernel);
      t.strides.push_back(stride);
      t.dilations.push_back(t.is_transposed ? 1 : pick(1, 2));
      t.output_pads.push_back(pick(0, stride - 1));
      for (int side : {0, 2}) t.pads[axis + side] = pick(0, 1) * pick(0, kernel - 1);
    }
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (int size = 0; size < (t.is_static ? 1 : 3); ++size)
      sizes.emplace_back(t.least_size(0) + pick(0, 12), t.least_size(1) + pick(0, 30));
    SCOPED_TRACE("case " + std::to_string(i) + ": " + description(t));
    check(t, i % 3 == 0 ? "x86-64-v3" : "host", sizes);
    if (HasFailure()) return;
  }
}

// Transposed convolutions with several groups become ordinary convolutions.
TEST(BlockedLayout, TransposedGroupsAgreeWithLoops) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 12; ++i) {
    LayoutCase t{.is_transposed = true,
                 .has_bias = pick(0, 1) == 0,
                 .is_static = pick(0, 2) == 0,
                 .images = pick(1, 2),
                 .group = pick(2, 5)};
    t.channels = t.group * pick(1, 4);
    t.rows = t.group * pick(1, 4);
    for (int axis : {0, 1}) {
      const int64_t kernel = pick(1, 5), stride = pick(1, 4);
      t.kernel.push_back(kernel);
      t.strides.push_back(stride);
      t.dilations.push_back(1);
      t.output_pads.push_back(pick(0, stride - 1));
      for (int side : {0, 2}) t.pads[axis + side] = pick(0, 1) * pick(0, kernel - 1);
    }
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (int size = 0; size < (t.is_static ? 1 : 2); ++size)
      sizes.emplace_back(t.least_size(0) + pick(0, 9), t.least_size(1) + pick(0, 20));
    SCOPED_TRACE("case " + std::to_string(i) + ": " + description(t));
    check(t, i % 3 == 0 ? "x86-64-v3" : "host", sizes, /*is_blocked=*/std::nullopt);
    if (HasFailure()) return;
  }
}

// A transpose to channels last reads the blocked image, and a transpose to images by channel writes
// it. The convolutions need no conversion between them.
TEST(BlockedLayout, TransposesAgreeWithThoseByChannel) {
  for (const int64_t channels : {2, 16, 20, 32}) {
    SCOPED_TRACE(channels);
    const std::string c = std::to_string(channels);
    const std::string image = tensor_type("n, " + c + ", h, w");
    const std::string last = tensor_type("n, h, w, " + c);
    const Array w = random_f32({channels, channels, 3, 3}, 1), b = random_f32({channels}, 2);
    const auto conv = [&](const std::string& result, const std::string& x) {
      return "  " + result + " = sv.conv " + x + ", %w {strides = array<i64: 1, 1>, " +
             "pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (" +
             image + ", " + static_type(w) + ") -> " + image + "\n";
    };
    const std::string text =
        "func.func @main(%x: " + image + ") -> (" + image + ", " + last + ") {\n" +
        constant_text("w", w) + constant_text("b", b) + conv("%0", "%x") +
        "  %1 = sv.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (" + image + ") -> " +
        last + "\n  %2 = sv.softmax %1 {axis = 3 : i64} : (" + last + ") -> " + last +
        "\n  %3 = sv.add %2, %b : (" + last + ", " + static_type(b) + ") -> " + last +
        "\n  %4 = sv.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (" + last + ") -> " +
        image + "\n" + conv("%5", "%4") + "  return %5, %3 : " + image + ", " + last + "\n}\n";
    auto blocked = KernelRunner::create(text, "host", /*fuse=*/true, ImageLayout::kBlocked);
    auto by_channel = KernelRunner::create(text, "host");
    ASSERT_TRUE(blocked.ok()) << blocked.status().message();
    ASSERT_TRUE(by_channel.ok()) << by_channel.status().message();
    for (const auto& [height, width] : {std::pair<int64_t, int64_t>{7, 9}, {1, 1}, {1, 20}})
      run_both(**blocked, **by_channel, {random_f32({2, channels, height, width}, 3)});
  }
}

// Convolutions whose blocked kernel would not exist, or would be unrolled or copy too much.
TEST(BlockedLayout, OtherConvolutionsStayByChannel) {
  const LayoutCase groups_of_24{.channels = 48,
                                .rows = 48,
                                .group = 2,
                                .kernel = {3, 3},
                                .strides = {1, 1},
                                .dilations = {1, 1},
                                .output_pads = {0, 0}};
  LayoutCase large_window = groups_of_24, dilated = groups_of_24, sequence = groups_of_24;
  large_window.group = 48;
  large_window.kernel = {9, 9};
  dilated.group = sequence.group = 1;
  dilated.dilations = {200, 200};
  dilated.pads = {200, 200, 200, 200};
  sequence.kernel = {1, 3};
  for (const LayoutCase& t : {groups_of_24, large_window, dilated}) {
    SCOPED_TRACE(description(t));
    check(t, "host", {{9, 11}, {12, 9}}, /*is_blocked=*/false);
  }
  SCOPED_TRACE("sequence");
  sequence.is_static = true;
  check(sequence, "host", {{1, 4000}}, /*is_blocked=*/false);
}

// Images whose dims are known to be 0, and strides larger than the window and the image.
TEST(BlockedLayout, EmptyResults) {
  LayoutCase t{.is_static = true,
               .channels = 64,
               .rows = 64,
               .kernel = {1, 1},
               .strides = {1, 1},
               .dilations = {1, 1},
               .output_pads = {0, 0}};
  check(t, "host", {{0, 5}, {4, 0}});
  t.strides = {2, 2};
  check(t, "x86-64-v3", {{0, 5}, {4, 0}});
  t.kernel = {2, 2};
  t.strides = {5, 5};
  t.is_static = false;
  check(t, "host", {{1, 7}, {7, 1}, {7, 7}});
  t.channels = 3;  // read by channel
  check(t, "x86-64-v3", {{1, 7}, {7, 1}, {7, 7}});
}

}  // namespace
}  // namespace scopevm::compiler::testing

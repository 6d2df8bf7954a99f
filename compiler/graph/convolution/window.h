// Sliding windows over spatial axes, shared by convolutions and pools.
#pragma once

#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::graph {

// For example, "[1, 2, 3]".
inline std::string text_of(llvm::ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

// The channels of a block of a blocked image.
constexpr int64_t kChannelBlock = 16;
// The largest `group_blocks` of sv.blocked_conv.
constexpr int64_t kMostGroupBlocks = 4;

// Whether convolutions with this number of output channels compute only the first half of the last
// block, whose other channels are padding. All blocks are then computed together.
inline bool has_half_block(int64_t rows, bool is_pointwise) {
  const int64_t last = rows % kChannelBlock;
  return last > 0 && last <= kChannelBlock / 2 && rows < kChannelBlock * (is_pointwise ? 4 : 2);
}

// Whether a blocked convolution, whose rows have `pixels` windows with `taps` taps each, reads x
// without a copy and omits the products with padding, unless its windows are single pixels. Its
// tiles then depend on the width of x, which must be known. `pads`: on both sides of a row.
// `is_blocked`: the layout of x.
//
// Long rows take 2 to 6 % less time, and those of x by channel 5 to 15 %, but up to 7 % more if x
// is blocked and windows have a stride. Tiles of windows with many taps take long to compile, and
// large pads need many different tiles.
inline bool omits_padding(DimExpr pixels, int64_t taps, int64_t stride, int64_t pads,
                          bool is_blocked) {
  constexpr int64_t kShort = 32, kFewTaps = 7, kSmallPads = 64;
  const std::optional<int64_t> count = pixels.as_constant();
  if (!count || *count <= kShort) return count.has_value();
  return taps <= kFewTaps && pads <= kSmallPads && (stride == 1 || !is_blocked);
}

// Whether each group of a convolution has as many output channels as channels, and no group is in
// two blocks. `rows` is the number of output channels, and `channels` that of a group's channels.
inline bool has_narrow_groups(int64_t group, DimExpr rows, DimExpr channels) {
  const std::optional<int64_t> count = channels.as_constant();
  return group != 1 && count && *count > 0 && *count < kChannelBlock &&
         kChannelBlock % *count == 0 && rows == channels * DimExpr(group);
}

// The limit for strides, dilations, pads, groups and the kernel dims of pools. It keeps products
// with dims far from overflow.
constexpr int64_t kMaxWindow = int64_t{1} << 20;

// Fails if an entry is less than `least` or more than kMaxWindow; `name` is the attribute's name.
inline llvm::LogicalResult check_window(TypeRule& rule, llvm::StringRef name,
                                        llvm::ArrayRef<int64_t> values, int64_t least) {
  if (llvm::all_of(values, [&](int64_t v) { return v >= least && v <= kMaxWindow; }))
    return mlir::success();
  return rule.fail(name + " are " + text_of(values) + ", expected " + llvm::Twine(least) + " to " +
                   llvm::Twine(kMaxWindow) + " each");
}

// The attributes of a window, with one entry per spatial axis. `pads` lists the padding before each
// axis, then the padding after each axis.
struct Window {
  llvm::ArrayRef<int64_t> strides, pads, dilations;

  // Fails if an attribute is invalid for `rank` spatial axes.
  llvm::LogicalResult check(TypeRule& rule, size_t rank) const {
    for (auto [name, values, count] : {std::tuple("strides", strides, rank),
                                       {"pads", pads, 2 * rank},
                                       {"dilations", dilations, rank}})
      if (values.size() != count)
        return rule.fail(llvm::Twine(name) + " are " + text_of(values) + ", expected " +
                         llvm::Twine(count) + (count == 1 ? " entry" : " entries"));
    if (failed(check_window(rule, "strides", strides, 1)) ||
        failed(check_window(rule, "dilations", dilations, 1)))
      return mlir::failure();
    return check_window(rule, "pads", pads, 0);
  }
};

// The number of window positions along spatial axis i. Along the axis, the input has `size`
// elements and the window has `kernel`. If `ceil`, a partial window at the end counts, unless it
// starts in the padding after the input.
inline DimExpr window_count(const Window& window, size_t i, DimExpr size, DimExpr kernel,
                            bool ceil) {
  size_t rank = window.strides.size();
  DimExpr span = size + window.pads[i] + window.pads[rank + i] - 1 -
                 (kernel - 1) * DimExpr(window.dilations[i]);
  DimExpr stride = window.strides[i];
  if (!ceil) return floordiv(span, stride) + 1;
  DimExpr count = ceildiv(span, stride) + 1;
  DimExpr starts_inside = floordiv(size + window.pads[i] - 1, stride) + 1;
  return min(count, starts_inside);
}

// Whether a convolution with narrow groups is small enough for code without a loop over the window,
// which computes several adjacent columns.
inline bool is_small_window(const Window& window, llvm::ArrayRef<DimExpr> kernel) {
  constexpr int64_t kMostTaps = 49, kMostColumns = 7, kMostReach = 32;
  DimExpr taps = 1;
  for (size_t i = 0; i < kernel.size(); ++i) {
    taps = taps * kernel[i];
    const DimExpr reach =
        (kernel[i] - 1) * DimExpr(window.dilations[i]) + (kMostColumns - 1) * window.strides[i] + 1;
    if (reach.as_constant().value_or(kMostReach + 1) > kMostReach) return false;
  }
  return taps.as_constant().value_or(kMostTaps + 1) <= kMostTaps;
}

// The inverse of window_count(): the size from the start of the first window to the end of the last
// one of `count` windows, without the pads and with the output pads.
inline DimExpr transposed_size(const Window& window, llvm::ArrayRef<int64_t> output_pads, size_t i,
                               DimExpr count, DimExpr kernel) {
  return (count - 1) * DimExpr(window.strides[i]) + output_pads[i] +
         (kernel - 1) * DimExpr(window.dilations[i]) + 1 - window.pads[i] -
         window.pads[window.strides.size() + i];
}

// The part of a transposed convolution along one axis that computes the elements of one phase:
// those whose index is `phase` modulo the stride. Element `stride * q + phase` is the sum, over
// 0 <= i < count, of kernel element `first + stride * i` times input element `q + shift - i`.
struct PhaseTaps {
  int64_t first, count, shift;
};
inline PhaseTaps phase_taps(int64_t phase, int64_t stride, int64_t pad, int64_t kernel) {
  const int64_t first = (phase + pad) % stride;
  const int64_t count = first < kernel ? (kernel - first + stride - 1) / stride : 0;
  return {first, count, (phase + pad) / stride};
}

// The part of x that all phases read for one value of q: a window of an ordinary convolution with
// stride 1, which is `size` wide and begins `before` elements before element q.
struct CommonWindow {
  int64_t taps;         // most taps of a phase
  int64_t least_shift;  // of all phases
  int64_t size, before;
};
inline CommonWindow common_window(int64_t stride, int64_t pad, int64_t kernel) {
  const int64_t taps = (kernel + stride - 1) / stride;
  const int64_t least = pad / stride, most = (stride - 1 + pad) / stride;
  return {taps, least, taps + most - least, taps - 1 - least};
}

}  // namespace scopevm::compiler::graph

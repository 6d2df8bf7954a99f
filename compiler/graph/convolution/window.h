// Sliding windows over spatial axes, shared by convolutions and pools.
#pragma once

#include "compiler/graph/type_rule.h"
#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::graph {

// For example, "[1, 2, 3]".
inline std::string text_of(llvm::ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

using schedule::kChannelBlock;

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

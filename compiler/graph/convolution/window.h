// Sliding windows over spatial axes, shared by convolutions and pools.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// For example, "[1, 2, 3]".
inline std::string text_of(llvm::ArrayRef<int64_t> values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

// The attributes of a window, with one entry per spatial axis. `pads` lists the padding before each
// axis, then the padding after each axis.
struct Window {
  llvm::ArrayRef<int64_t> strides, pads, dilations;

  // Describes the first attribute that is invalid for `rank` spatial axes; empty if all are valid.
  std::string error(size_t rank) const {
    for (auto [name, values, count] : {std::tuple("strides", strides, rank),
                                       {"pads", pads, 2 * rank},
                                       {"dilations", dilations, rank}})
      if (values.size() != count)
        return std::string(name) + " are " + text_of(values) + ", expected " +
               std::to_string(count) + (count == 1 ? " entry" : " entries");
    for (auto [name, values] : {std::pair("strides", strides), {"dilations", dilations}})
      if (llvm::any_of(values, [](int64_t value) { return value < 1; }))
        return std::string(name) + " are " + text_of(values) + ", expected at least 1 each";
    return "";
  }
};

// The number of window positions along spatial axis i. Along the axis, the input has `size`
// elements and the window has `kernel`. If `ceil`, a partial window at the end counts.
inline DimExpr window_count(const Window& window, size_t i, DimExpr size, DimExpr kernel,
                            bool ceil) {
  size_t rank = window.strides.size();
  DimExpr span = size + window.pads[i] + window.pads[rank + i] - 1 -
                 (kernel - 1) * DimExpr(window.dilations[i]);
  DimExpr stride = window.strides[i];
  if (!ceil) return floordiv(span, stride) + 1;
  // Windows that would start in the padding after the input do not count.
  DimExpr count = ceildiv(span, stride) + 1;
  DimExpr starts_inside = floordiv(size + window.pads[i] - 1, stride) + 1;
  return min(count, starts_inside);
}

}  // namespace scopevm::compiler::graph

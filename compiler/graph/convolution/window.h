// Sliding windows over spatial axes, shared by convolutions and pools.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// The attributes of a window, one entry per spatial axis (pads: two).
struct Window {
  llvm::ArrayRef<int64_t> strides, pads, dilations;

  bool has_rank(size_t rank) const {
    return strides.size() == rank && pads.size() == 2 * rank && dilations.size() == rank;
  }
  bool is_positive() const {
    auto positive = [](int64_t v) { return v > 0; };
    return llvm::all_of(strides, positive) && llvm::all_of(dilations, positive);
  }
};

// Number of window positions along spatial axis i. `size`: elements of the input along the axis;
// `kernel`: elements of the window.
inline DimExpr window_count(const Window& window, size_t i, DimExpr size, DimExpr kernel,
                            bool ceil) {
  size_t rank = window.strides.size();
  DimExpr span = size + window.pads[i] + window.pads[rank + i] - 1 -
                 (kernel - 1) * DimExpr(window.dilations[i]);
  DimExpr stride = window.strides[i];
  if (!ceil) return floordiv(span, stride) + 1;
  // A window that would start in the padding after the input is dropped.
  DimExpr count = ceildiv(span, stride) + 1;
  DimExpr starts_inside = floordiv(size + window.pads[i] - 1, stride) + 1;
  return min(count, starts_inside);
}

}  // namespace scopevm::compiler::graph

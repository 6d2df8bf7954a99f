// Windows that move over spatial axes: what convolutions and pools have in common.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

// The attributes of a window, by spatial axis.
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

// Positions of a window of `kernel` elements along spatial axis i of `size` elements.
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

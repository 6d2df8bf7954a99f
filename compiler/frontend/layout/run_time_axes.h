// Axes that only the call knows. Ranks are known, so little is open: which dims come before an axis
// and which after. A few ops on the axes and the dims of x, small tensors all, say so, and one read
// makes dims of what they say: work along such an axis is work along the middle of a view of x.
#pragma once

#include "compiler/frontend/node.h"

namespace scopevm::compiler::frontend {

// x as [before, size, after] around one of its axes.
struct AxisView {
  DimExpr before, size, after;
};

// REQUIRES: n has not failed; `axes` are integers of rank 0 or 1.
class RunTimeAxes {
 public:
  // The call fails unless the axes are distinct and fit the rank of x.
  RunTimeAxes(Node& n, Value axes, Value x);

  // One for each axis, in order; the dims of axes before it are 1 by then.
  llvm::ArrayRef<AxisView> views() const { return views_; }
  const Dims& dims_without() const { return without_; }      // the dims of x but these
  const Dims& dims_with_ones() const { return with_ones_; }  // the dims of x, 1 at these

 private:
  llvm::SmallVector<AxisView> views_;
  Dims without_, with_ones_;
};

// The number of axes, or an "unsupported" error.
std::optional<int64_t> count_of_axes(Node& n, Value axes);

// The dims of x with a 1 at each of the axes of the result.
Dims dims_with_new_axes(Node& n, Value axes, Value x);

// `values`, one for each of the axes, as one for each of `rank`; others are `otherwise`. All i64.
// The call fails unless the axes are distinct and fit the rank.
Value over_all_axes(Node& n, Value axes, Value values, int64_t rank, int64_t otherwise);

}  // namespace scopevm::compiler::frontend

// Axes that are only known at run time. Ranks are static, so the only unknowns are the sizes before
// and after the axis. A few ops on the axes and the dims of x, all small tensors, compute these
// sizes, and one sv.read_dims turns them into symbols. Work along such an axis then becomes work
// along the middle axis of a view [before, size, after].
#pragma once

#include "compiler/frontend/node.h"

namespace scopevm::compiler::frontend {

// x viewed as [before, size, after] around one of its axes.
struct AxisView {
  DimExpr before, size, after;
};

// REQUIRES: n has not failed; `axes` are integers of rank 0 or 1.
class RunTimeAxes {
 public:
  // Emits a check: the call fails unless the axes are distinct and in the range of x's rank.
  RunTimeAxes(Node& n, Value axes, Value x);

  // One view per axis, in order; dims of axes that were handled earlier count as 1.
  llvm::ArrayRef<AxisView> views() const { return views_; }
  const Dims& dims_without() const { return without_; }      // the dims of x without the axes
  const Dims& dims_with_ones() const { return with_ones_; }  // the dims of x with 1 at the axes

 private:
  llvm::SmallVector<AxisView> views_;
  Dims without_, with_ones_;
};

// The number of axes; reports "unsupported" if it is not known at compile time.
std::optional<int64_t> count_of_axes(Node& n, Value axes);

// The dims of x with a 1 inserted at each of the axes, which are axes of the result.
Dims dims_with_new_axes(Node& n, Value axes, Value x);

// Expands `values`, one per entry of `axes`, to one per axis of `rank`; axes without an entry get
// `otherwise`. All i64. The call fails unless the axes are distinct and in range.
Value over_all_axes(Node& n, Value axes, Value values, int64_t rank, int64_t otherwise);

}  // namespace scopevm::compiler::frontend

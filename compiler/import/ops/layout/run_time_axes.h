// Axes that are known only at run time. Ranks are static, so three sizes describe such an axis: the
// number of elements before it, its size, and the number after it. A few ops on small tensors, the
// axes and the dims of x, compute these sizes, and one sv.read_dims turns them into symbols. An op
// along a run-time axis becomes an op along the middle axis of a view [before, size, after].
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// x viewed as [before, size, after] around one of its axes.
struct AxisView {
  DimExpr before, size, after;
};

// REQUIRES: n has not failed.
class RunTimeAxes {
 public:
  // Emits a check: the call fails unless the axes are distinct and in the range of x's rank.
  RunTimeAxes(Node& n, Value axes, Value x);

  // One view per run-time axis, in order. In the view of an axis, the dims of the axes before it in
  // this list count as 1.
  llvm::ArrayRef<AxisView> views() const { return views_; }
  const Dims& dims_without() const { return without_; }      // the dims of x without the axes
  const Dims& dims_with_ones() const { return with_ones_; }  // the dims of x with 1 at the axes

 private:
  llvm::SmallVector<AxisView> views_;
  Dims without_, with_ones_;
};

// The number of axes. Fails the node and returns no value if the number is not known at compile
// time, or if `axes` are not i64 or i32 of rank 0 or 1.
std::optional<int64_t> count_of_axes(Node& n, Value axes);

// The dims of x with a 1 inserted at each of `axes`, which are axes of the result.
Dims dims_with_new_axes(Node& n, Value axes, Value x);

// Expands `values`, one per entry of `axes`, to i64[rank] with one value per axis. Axes without an
// entry get `otherwise`. The call fails unless the axes are distinct and in range.
Value over_all_axes(Node& n, Value axes, Value values, int64_t rank, int64_t otherwise);

}  // namespace scopevm::compiler::frontend

// Both shapes are factored into the shortest runs of axes with equal numbers of elements. Inside a
// run, part p of an axis of size s, with q elements in the axes before it, consists of the elements
// of part p of each of q segments. The same is true of an axis after the reshape.
#include "compiler/split/tensor/reshape_axes.h"

#include "compiler/dims/representative.h"

namespace scopevm::compiler::split {
namespace {

using Shape = llvm::ArrayRef<DimExpr>;

struct Run {
  int64_t from = 0, from_end = 0;
  int64_t to = 0, to_end = 0;
};

std::vector<Run> runs_of(Shape from, Shape to) {
  std::vector<Run> runs;
  const auto from_rank = static_cast<int64_t>(from.size()),
             to_rank = static_cast<int64_t>(to.size());
  Run run;
  while (run.from < from_rank && run.to < to_rank) {
    DimExpr before = from[run.from], after = to[run.to];
    run.from_end = run.from + 1, run.to_end = run.to + 1;
    while (before != after) {
      const bool extends_from = representative(before) <= representative(after);
      if (extends_from ? run.from_end == from_rank : run.to_end == to_rank) return runs;
      if (extends_from)
        before = before * from[run.from_end++];
      else
        after = after * to[run.to_end++];
    }
    runs.push_back(run);
    run = {run.from_end, run.from_end, run.to_end, run.to_end};
  }
  return runs;
}

struct Axis {
  int64_t axis = 0;
  int64_t before = 1;  // elements of the axes of its run before it
  int64_t size = 1;
};

// The static axes of a run, up to the first one that is not.
std::vector<Axis> axes_of(Shape shape, int64_t axis, int64_t end) {
  std::vector<Axis> axes;
  int64_t before = 1;
  for (; axis < end; ++axis) {
    const std::optional<int64_t> size = shape[axis].as_constant();
    if (!size) return axes;
    axes.push_back({axis, before, *size});
    before *= *size;
  }
  return axes;
}

}  // namespace

std::vector<ReshapedAxis> reshaped_axes(graph::ReshapeOp reshape, int64_t parts) {
  const Shape from = graph::type_of(reshape.getX()).getShape(),
              to = graph::type_of(reshape.getResult()).getShape();
  std::vector<ReshapedAxis> pairs;
  for (const Run& run : runs_of(from, to))
    for (const Axis& x : axes_of(from, run.from, run.from_end))
      for (const Axis& y : axes_of(to, run.to, run.to_end)) {
        // Both have the parts of `segments` segments of the run.
        const int64_t segments = std::max(x.before, y.before);
        if (x.before == 0 || y.before == 0 || segments % x.before != 0 || segments % y.before != 0)
          continue;
        const ReshapedAxis pair{x.axis, segments / x.before, y.axis, segments / y.before};
        const bool is_divisible = x.size > 0 && y.size > 0 &&
                                  x.size % (pair.from_segments * parts) == 0 &&
                                  y.size % (pair.to_segments * parts) == 0;
        const bool is_kept = x.before == y.before && x.size == y.size;
        if (is_divisible || is_kept) pairs.push_back(pair);
      }
  return pairs;
}

}  // namespace scopevm::compiler::split

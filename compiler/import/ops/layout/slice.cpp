// ONNX Slice. Starts and ends may be numbers, dims, or data that is read at run time. Axes and
// steps may be numbers or data. With steps that are data, the slice is a gather per axis instead of
// one strided copy.
#include <algorithm>

#include "compiler/import/node/formula.h"
#include "compiler/import/ops/layout/run_time_axes.h"
#include "compiler/import/ops/op_table.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

using SliceBounds = llvm::SmallVector<Node::SignedDim>;

// Exporters write "to the end" as the greatest i32 or i64.
constexpr int64_t kFarAway = std::numeric_limits<int32_t>::max();

bool is_far(DimExpr e) {
  auto c = e.as_constant();
  return c && (*c >= kFarAway || *c <= -kFarAway);
}

// Op of the value and a number. An earlier result is reused, so that slices with the same bounds
// have the same symbols and their sizes are provably equal.
template <typename Op>
Value bounded(Node& n, Value value, int64_t number) {
  for (mlir::Operation* user : value.getUsers()) {
    mlir::DenseIntElementsAttr known;
    const bool is_before = user->getBlock() == n.builder().getInsertionBlock() ||
                           mlir::isa_and_nonnull<mlir::func::FuncOp>(user->getParentOp());
    if (is_before && mlir::isa<Op>(user) && user->getOperand(0) == value &&
        mlir::matchPattern(user->getOperand(1), mlir::m_Constant(&known)) && known.isSplat() &&
        known.getSplatValue<int64_t>() == number)
      return user->getResult(0);
  }
  return n.emit<Op>({value, n.scalar(static_cast<double>(number), value)});
}

// The starts, ends or steps. Those that are read at run time are clamped, because shape arithmetic
// has 64 bits: the negative of the least i64 would overflow. No axis has this many elements.
SliceBounds bounds_of(Node& n, Value value, llvm::StringRef what) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (value && !n.has_failed() && !n.is_known(value) && n.dtype(value) == DType::kI64 &&
      n.rank(value) == 1 && n.dim(value, 0).is_constant())
    value = bounded<MinOp>(n, bounded<MaxOp>(n, value, -kMost), kMost);
  return n.signed_dims_of(value, what);
}

// 1 if e > 0, else 0. REQUIRES: e >= 0.
DimExpr is_positive(DimExpr e) { return min(e, DimExpr(1)); }

// A slice index on an axis of `dim` elements: counted from the end if negative, then clamped to
// [low, high].
DimExpr clamp_index(Node& n, Node::SignedDim index, DimExpr dim, DimExpr low, DimExpr high) {
  if (index.negative.is_constant(0)) {
    DimExpr at = index.positive;
    if (is_far(at)) return *at.as_constant() > 0 ? high : low;
    DimInterval range = interval_of(at);
    if (range.min >= 0 || range.max < 0) {
      if (range.max < 0) at = at + dim;
      return max(min(at, high), low);
    }
    index = {max(at, DimExpr(0)), max(DimExpr(0) - at, DimExpr(0))};
  }
  // At run time at least one of `negative` and `positive` is 0, and then its term is 0.
  DimExpr from_end = max(dim - index.negative, low);
  DimExpr from_start = min(index.positive, max(high, 0));
  return is_positive(index.negative) * from_end + from_start;
}

struct Box {
  DimExpr first, size;
};

// The first index and the number of elements that a slice selects on an axis. The step is `step`,
// or -step if is_backward. REQUIRES: step > 0.
Box box_of(Node& n, Node::SignedDim start, Node::SignedDim end, DimExpr dim, DimExpr step,
           bool is_backward) {
  // As in NumPy: a backward slice starts at dim - 1 or below, and its exclusive end is -1 or above.
  DimExpr low = is_backward ? -1 : 0, high = is_backward ? dim - 1 : dim;
  DimExpr first = clamp_index(n, start, dim, 0, high), last = clamp_index(n, end, dim, low, high);
  DimExpr span = is_backward ? first - last : last - first;
  // On an empty axis the clamped index is still out of range, so the size is limited to `dim`.
  DimExpr most = min(ceildiv(span, step), dim);
  return {first, max(most, 0)};
}

Values slice(Node& n, const SliceBounds& starts, const SliceBounds& ends, const Ints& axes,
             const Ints& steps) {
  Value x = n.input(0);
  size_t rank = static_cast<size_t>(n.rank(x));
  if (n.has_failed()) return Value();
  if (starts.size() != ends.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return n.fail("starts, ends, axes and steps must have the same length, but have " +
                  llvm::Twine(starts.size()) + ", " + llvm::Twine(ends.size()) + ", " +
                  llvm::Twine(axes.size()) + " and " + llvm::Twine(steps.size()));
  Dims from(rank, DimExpr(0)), sizes(n.shape(x));
  Ints by(rank, 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = n.axis(axes[i], n.rank(x));
    if (n.has_failed()) return Value();
    if (steps[i] == 0) return n.fail("a step is 0");
    // No axis is longer than kFarAway, so clamping changes no result. std::abs(INT64_MIN) would
    // overflow.
    by[axis] = std::clamp<int64_t>(steps[i], -kFarAway, kFarAway);
    Box box = box_of(n, starts[i], ends[i], n.dim(x, axis), std::abs(by[axis]), by[axis] < 0);
    from[axis] = box.first;
    sizes[axis] = box.size;
  }
  bool is_whole = n.shape(x) == llvm::ArrayRef<DimExpr>(sizes) &&
                  llvm::all_of(by, [](int64_t s) { return s == 1; });
  if (is_whole) return x;
  return n.slice(x, from, sizes, by);
}

// --- Run-time steps. ----------------------------------------------------------------------------

// first + step * i for i in [0, size).
Value indices(Node& n, const Box& box, DimExpr step) {
  Value index = iota(n, box.size, DType::kI64);
  Value by = n.dims_value({step}, /*is_scalar=*/true),
        first = n.dims_value({box.first}, /*is_scalar=*/true);
  return n.emit<AddOp>({n.emit<MulOp>({index, by}), first});
}

Value slice_by(Node& n, Value x, int64_t axis, Node::SignedDim start, Node::SignedDim end,
               Node::SignedDim step) {
  DimExpr dim = n.dim(x, axis), length = step.positive + step.negative;
  n.require_at_least(length, 1, "a step is 0");
  DimExpr by = max(length, 1), backward = is_positive(step.negative),
          forward = DimExpr(1) - backward;
  // The direction is known only at run time, so both ranges are computed. The factors `forward` and
  // `backward`, each 0 or 1, select one.
  Box ahead = box_of(n, start, end, dim, by, false), back = box_of(n, start, end, dim, by, true);
  Box box = {forward * ahead.first + backward * back.first,
             forward * ahead.size + backward * back.size};
  Value picked = indices(n, box, step.positive - step.negative);
  return n.emit<GatherOp>({x, picked}, {n.attr("axis", axis)});
}

Value slice_by_data(Node& n, const SliceBounds& starts, const SliceBounds& ends, const Ints& axes,
                    Value steps) {
  Value x = n.input(0);
  SliceBounds by = bounds_of(n, steps, "the step");
  if (n.has_failed()) return {};
  if (starts.size() != ends.size() || axes.size() != starts.size() || by.size() != starts.size())
    return n.fail("starts, ends, axes and steps must have the same length, but have " +
                  llvm::Twine(starts.size()) + ", " + llvm::Twine(ends.size()) + ", " +
                  llvm::Twine(axes.size()) + " and " + llvm::Twine(by.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = n.axis(axes[i], n.rank(x));
    if (n.has_failed()) return {};
    x = slice_by(n, x, axis, starts[i], ends[i], by[i]);
  }
  return x;
}

// --- Attributes and inputs. ---------------------------------------------------------------------

SliceBounds bounds_of(const Ints& numbers) {
  SliceBounds bounds;
  for (int64_t number : numbers) bounds.push_back({number, 0});
  return bounds;
}

Values slice_with_attributes(Node& n) {
  Ints starts = n.integers("starts"), ends = n.integers("ends");
  return slice(n, bounds_of(starts), bounds_of(ends),
               n.integers("axes", first_axes(static_cast<int64_t>(starts.size()))),
               Ints(starts.size(), 1));
}

Values slice(Node& n) {
  Value starts = n.input(1), ends = n.input(2), axes = n.input_or(3, Value()),
        steps = n.input_or(4, Value());
  if (n.has_failed()) return Value();
  Ints known_axes;
  if (axes && !n.is_known(axes)) {
    int64_t rank = n.rank(n.input(0));
    starts = over_all_axes(n, axes, starts, rank, 0);
    // Axes that are not given are selected completely: from 0 to the end, with step 1.
    ends = over_all_axes(n, axes, ends, rank, std::numeric_limits<int64_t>::max());
    if (steps) steps = over_all_axes(n, axes, steps, rank, 1);
    known_axes = first_axes(static_cast<size_t>(rank));
  } else if (axes) {
    known_axes = n.integers_of(axes, "axes");
  }
  SliceBounds from = bounds_of(n, starts, "the start"), to = bounds_of(n, ends, "the end");
  if (!axes) known_axes = first_axes(from.size());
  if (n.has_failed()) return Value();
  if (steps && !n.is_known(steps)) return slice_by_data(n, from, to, known_axes, steps);
  return slice(n, from, to, known_axes,
               steps ? n.integers_of(steps, "the step") : Ints(from.size(), 1));
}

}  // namespace

const OpRows kSliceOps = {
    {"Slice", 1, slice_with_attributes},
    {"Slice", 10, slice},
};

}  // namespace scopevm::compiler::frontend

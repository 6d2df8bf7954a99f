// scatter_elements and scatter_nd: x with some elements replaced or reduced.
//
// A work item is an element or slice of the result. Each call copies its range of x, then visits
// all updates in order and applies the updates in its range. The updates of an element are
// therefore applied in the same order for any number of workers.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

class Updates {
 public:
  template <typename Op>
  Updates(Op op, KernelBuilder& k)
      : k_(k),
        reduction_(op.getReduction()),
        elements_(reduction_ == graph::ScatterReduction::kNone ? Elements::kBits
                                                               : Elements::kNumbers),
        x_(k.operand(op.getX(), elements_)),
        indices_(k.operand(op.getIndices())),
        updates_(k.operand(op.getUpdates(), elements_)),
        result_(k.result(op.getResult(), elements_)) {
    k.allow_in_place(result_, x_);
  }

  Buffer indices() const { return indices_; }
  void copy_items(Term item_size) {
    // Source and destination can be the same bytes (allow_in_place). That is safe, because a range
    // reads and writes only its own elements.
    k_.copy(x_, k_.begin() * item_size, result_, k_.begin() * item_size,
            (k_.end() - k_.begin()) * item_size);
  }
  void apply(Term from, Term to) {
    if (reduction_ == graph::ScatterReduction::kNone)
      return k_.store(result_, to, k_.load(updates_, from));
    Term now = k_.load_number(result_, to), update = k_.load_number(updates_, from);
    k_.store_number(result_, to, reduced(now, update));
  }

 private:
  Term reduced(Term now, Term update) const {
    const bool is_less_unsigned = is_unsigned(x_.dtype);
    switch (reduction_) {
      case graph::ScatterReduction::kNone:
        break;
      case graph::ScatterReduction::kAdd:
        return now + update;
      case graph::ScatterReduction::kMul:
        return now * update;
      case graph::ScatterReduction::kMin:
        return select(less(update, now, is_less_unsigned), update, now);
      case graph::ScatterReduction::kMax:
        return select(less(now, update, is_less_unsigned), update, now);
    }
    return update;
  }

  KernelBuilder& k_;
  graph::ScatterReduction reduction_;
  Elements elements_;
  Buffer x_, indices_, updates_, result_;
};

// Each call visits all updates. The grain is so large that it copies its items for at least about
// as long: visiting an update takes about as long as copying 16 elements.
DimExpr grain(mlir::Value x, DimExpr item_size, DimExpr updates) {
  constexpr int64_t kElementsPerUpdate = 16;
  return max(grain_of_bytes(item_size * byte_size(dtype_of(x))),
             ceildiv(updates * DimExpr(kElementsPerUpdate), max(item_size, 1)));
}

}  // namespace

llvm::LogicalResult lower(graph::ScatterElementsOp op, LoweringContext& context) {
  KernelBuilder k(
      context, op,
      ("scatter_elements_" + graph::stringifyScatterReduction(op.getReduction())).str());
  Updates updates(op, k);
  llvm::ArrayRef<DimExpr> x = shape_of(op.getX()), shape = shape_of(op.getUpdates());
  auto axis = static_cast<size_t>(op.getAxis());
  Dims x_strides = row_major_strides(x), strides = row_major_strides(shape);
  Term size = k.param(x[axis]), stride = k.param(x_strides[axis]);
  x_strides[axis] = 0;
  llvm::SmallVector<Axis> axes;
  for (size_t d = 0; d < shape.size(); ++d) axes.push_back({shape[d], {x_strides[d], strides[d]}});
  updates.copy_items(k.index(1));
  k.walk(k.index(0), k.param(element_count(shape)), axes, {0, 0}, [&](auto, auto offsets) {
    Term picked = k.load_index(updates.indices(), offsets[1], size);
    Term to = offsets[0] + picked * stride;
    Term is_mine = (k.begin() <= to) & (to < k.end());
    // An index out of range is an error in ONNX; here its update is ignored. No two workers write
    // an element, because their ranges are disjoint.
    k.when((0 <= picked) & (picked < size) & is_mine, [&] { updates.apply(offsets[1], to); });
  });
  return k.launch(element_count(x), grain(op.getX(), 1, element_count(shape)));
}

llvm::LogicalResult lower(graph::ScatterNdOp op, LoweringContext& context) {
  llvm::ArrayRef<DimExpr> x = shape_of(op.getX()), tuples = shape_of(op.getIndices());
  if (!tuples.back().is_constant())
    return op.emitError("the last dim of the scatter_nd indices must be static");
  auto depth = static_cast<size_t>(*tuples.back().as_constant());
  KernelBuilder k(context, op,
                  ("scatter_nd_" + graph::stringifyScatterReduction(op.getReduction())).str());
  Updates updates(op, k);
  DimExpr slices = product(x, 0, depth), slice_size = product(x, depth, x.size());
  Dims strides = row_major_strides(x.take_front(depth));
  Term slice = k.param(slice_size);
  Terms sizes, slice_strides;
  for (size_t d = 0; d < depth; ++d) {
    sizes.push_back(k.param(x[d]));
    slice_strides.push_back(k.param(strides[d]));
  }
  updates.copy_items(slice);
  DimExpr row_count = product(tuples, 0, tuples.size() - 1);
  Term rows = k.param(row_count);
  k.loop(k.index(0), rows, 1, [&](Term row) {
    Term to = k.index(0), in_range;
    for (size_t d = 0; d < depth; ++d) {
      Term at = row * static_cast<int64_t>(depth) + static_cast<int64_t>(d);
      Term picked = k.load_index(updates.indices(), at, sizes[d]);
      Term fits = (0 <= picked) & (picked < sizes[d]);
      in_range = in_range ? in_range & fits : fits;
      to = to + picked * slice_strides[d];
    }
    Term is_mine = (k.begin() <= to) & (to < k.end());
    k.when(in_range ? in_range & is_mine : is_mine, [&] {
      k.loop(k.index(0), slice, 1, [&](Term i) { updates.apply(row * slice + i, to * slice + i); });
    });
  });
  return k.launch(slices, grain(op.getX(), slice_size, row_count));
}

}  // namespace scopevm::compiler::kernels

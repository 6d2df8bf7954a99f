// Ops whose result index determines the x index by strides: transpose, expand, slice, tile, concat,
// insert_slice.
#include "compiler/kernels/layout/strided_copy.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower(graph::TransposeOp op, LoweringContext& context) {
  Dims from = row_major_strides(shape_of(op.getX()));
  Dims to = row_major_strides(shape_of(op.getResult()));
  StridedCopy copy;
  for (auto [d, source] : llvm::enumerate(op.getPermutation()))
    copy.axes.push_back({shape_of(op.getResult())[d], {from[source], to[d]}});
  return lower_strided_copy(op, context, op.getX(), op.getResult(), std::move(copy));
}

llvm::LogicalResult lower(graph::ExpandOp op, LoweringContext& context) {
  llvm::ArrayRef<DimExpr> x = shape_of(op.getX()), y = shape_of(op.getResult());
  Dims from = row_major_strides(x), to = row_major_strides(y);
  StridedCopy copy;
  for (size_t d = 0; d < y.size(); ++d) {
    DimExpr stride = 0;
    if (size_t added = y.size() - x.size(); d >= added) {
      DimExpr size = x[d - added];
      stride = from[d - added];
      // Only the request determines whether a symbolic dim is broadcast. The factor is 0 for size
      // 1, and 1 for larger sizes.
      if (!(size == y[d])) stride = stride * min(size - 1, DimExpr(1));
    }
    copy.axes.push_back({y[d], {stride, to[d]}});
  }
  return lower_strided_copy(op, context, op.getX(), op.getResult(), std::move(copy));
}

llvm::LogicalResult lower(graph::SliceOp op, LoweringContext& context) {
  Dims from = row_major_strides(shape_of(op.getX()));
  Dims to = row_major_strides(shape_of(op.getResult()));
  StridedCopy copy;
  for (auto [d, step] : llvm::enumerate(op.getSteps())) {
    copy.axes.push_back({shape_of(op.getResult())[d], {from[d] * step, to[d]}});
    copy.x_start = copy.x_start + op.getStarts().getValue()[d] * from[d];
  }
  return lower_strided_copy(op, context, op.getX(), op.getResult(), std::move(copy));
}

// Each dim becomes two axes: the repeats, with stride 0 in x, and the dim of x.
llvm::LogicalResult lower(graph::TileOp op, LoweringContext& context) {
  llvm::ArrayRef<DimExpr> x = shape_of(op.getX());
  Dims from = row_major_strides(x), to = row_major_strides(shape_of(op.getResult()));
  StridedCopy copy;
  for (auto [d, repeats] : llvm::enumerate(op.getRepeats().getValue())) {
    // Each repeat advances the result by the whole dim of x.
    copy.axes.push_back({repeats, {0, to[d] * x[d]}});
    copy.axes.push_back({x[d], {from[d], to[d]}});
  }
  return lower_strided_copy(op, context, op.getX(), op.getResult(), std::move(copy));
}

// A work item copies the contiguous elements of one operand for one index of the dims before the
// axis.
llvm::LogicalResult lower(graph::ConcatOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "concat");
  auto axis = static_cast<size_t>(op.getAxis());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getResult());
  llvm::SmallVector<Buffer> inputs;
  for (mlir::Value input : op.getInputs()) inputs.push_back(k.operand(input));
  Buffer result = k.result(op.getResult());
  DimExpr outer = product(shape, 0, axis), row = product(shape, axis, shape.size());
  auto count = static_cast<int64_t>(inputs.size());
  Terms starts, runs;
  DimExpr start = 0;
  for (mlir::Value input : op.getInputs()) {
    DimExpr run = product(shape_of(input), axis, shape.size());
    starts.push_back(k.stride(start));
    runs.push_back(k.param(run));
    start = start + run;
  }
  llvm::SmallVector<Axis> axes = {{outer, {row}}, {count, {0}}};
  k.for_items(axes, {0}, [&](auto index, auto offsets) {
    k.switch_index(index[1], count, [&](int64_t i) {
      k.copy(inputs[i], index[0] * runs[i], result, offsets[0] + starts[i], runs[i]);
    });
  });
  return k.launch(count_items(axes),
                  grain_of_bytes(floordiv(row * byte_size(dtype_of(op.getResult())), count)));
}

// After a copy of x, a work item copies the contiguous elements of the part for one index of the
// dims before the axis.
llvm::LogicalResult lower(graph::InsertSliceOp op, LoweringContext& context) {
  context.copy(context.value_of(op.getX()), context.value_of(op.getResult()));
  KernelBuilder k(context, op, "insert_slice");
  const auto axis = static_cast<size_t>(op.getAxis());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getResult()), part_shape = shape_of(op.getPart());
  Buffer part = k.operand(op.getPart());
  Buffer result = k.result(op.getResult());
  const DimExpr run = product(part_shape, axis, part_shape.size());
  const Term length = k.param(run), row = k.param(product(shape, axis, shape.size()));
  const Term start =
      k.param(op.getStart().getValue().front() * product(shape, axis + 1, shape.size()));
  k.loop(k.begin(), k.end(), 1,
         [&](Term item) { k.copy(part, item * length, result, item * row + start, length); });
  return k.launch(product(part_shape, 0, axis),
                  grain_of_bytes(run * byte_size(dtype_of(op.getPart()))));
}

}  // namespace scopevm::compiler::kernels

// gather, gather_elements and gather_nd: elements and slices of x at indices from a tensor.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

// Copies a slice of `elements` elements; `count` is the same number as a term. A slice of one
// element is copied without a loop.
void copy_slice(KernelBuilder& k, Buffer x, Term from, Buffer result, Term to, DimExpr elements,
                Term count) {
  if (elements.is_constant(1))
    k.store(result, to, k.load(x, from));
  else
    k.copy(x, from, result, to, count);
}

Term clamped_index(KernelBuilder& k, Buffer indices, Term at, Term size) {
  // In ONNX, an index out of range is an error of the model. Clamping it keeps the access in
  // bounds, because a kernel cannot fail.
  return clamp(k.load_index(indices, at, size), k.index(0), size - 1);
}

}  // namespace

llvm::LogicalResult lower(graph::GatherOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "gather");
  Buffer x = k.operand(op.getX()), indices = k.operand(op.getIndices());
  Buffer result = k.result(op.getResult());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX());
  auto axis = static_cast<size_t>(op.getAxis());
  DimExpr inner = product(shape, axis + 1, shape.size()), size = shape[axis];
  DimExpr count = element_count(shape_of(op.getIndices()));
  Term size_value = k.param(size), slice = k.param(inner);
  llvm::SmallVector<Axis> axes = {{product(shape, 0, axis), {size * inner, count * inner}},
                                  {count, {0, inner}}};
  k.for_items(axes, {0, 0}, [&](auto index, auto offsets) {
    k.when(
        // If the axis has size 0, no index is valid and the result is 0.
        k.index(0) < size_value,
        [&] {
          Term from = offsets[0] + clamped_index(k, indices, index[1], size_value) * slice;
          copy_slice(k, x, from, result, offsets[1], inner, slice);
        },
        [&] { k.fill(result, offsets[1], slice, k.zero(result)); });
  });
  return k.launch(count_items(axes), grain_of_bytes(inner * byte_size(dtype_of(op.getX()))));
}

// A work item is one row of the result. The offset in x does not include the axis: the index on the
// axis is read from `indices`.
llvm::LogicalResult lower(graph::GatherElementsOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "gather_elements");
  Buffer x = k.operand(op.getX()), indices = k.operand(op.getIndices());
  Buffer result = k.result(op.getResult());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getIndices());
  auto axis = static_cast<size_t>(op.getAxis());
  Dims x_strides = row_major_strides(shape_of(op.getX())), strides = row_major_strides(shape);
  Term size = k.param(shape_of(op.getX())[axis]), stride = k.param(x_strides[axis]);
  Term row = k.param(shape.back());
  x_strides[axis] = 0;
  llvm::SmallVector<Axis> axes;
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    axes.push_back({shape[d], {x_strides[d], strides[d]}});
  Term step = k.stride(x_strides.back());
  k.for_items(axes, {0, 0}, [&](auto, auto offsets) {
    k.when(
        k.index(0) < size,
        [&] {
          k.loop(k.index(0), row, 1, [&](Term i) {
            Term picked = clamped_index(k, indices, offsets[1] + i, size);
            k.store(result, offsets[1] + i, k.load(x, offsets[0] + picked * stride + i * step));
          });
        },
        [&] { k.fill(result, offsets[1], row, k.zero(result)); });
  });
  return k.launch(count_items(axes),
                  grain_of_bytes(shape.back() * (2 * byte_size(dtype_of(op.getX())))));
}

// The shape of `indices` is [batch..., rows..., depth]. A tuple of `depth` indices selects a slice
// of x on the dims after the batch dims.
llvm::LogicalResult lower(graph::GatherNdOp op, LoweringContext& context) {
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getX()), tuples = shape_of(op.getIndices());
  auto batch = static_cast<size_t>(op.getBatchDims());
  if (!tuples.back().is_constant())
    return op.emitError("the last dim of the gather_nd indices must be static");
  auto depth = static_cast<size_t>(*tuples.back().as_constant());
  KernelBuilder k(context, op, "gather_nd");
  Buffer x = k.operand(op.getX()), indices = k.operand(op.getIndices());
  Buffer result = k.result(op.getResult());
  DimExpr inner = product(shape, batch + depth, shape.size());
  DimExpr rows = product(tuples, batch, tuples.size() - 1);
  DimExpr addressed = product(shape, batch, batch + depth);
  Dims x_strides = row_major_strides(shape);
  Terms sizes, strides;
  for (size_t d = batch; d < batch + depth; ++d) {
    sizes.push_back(k.param(shape[d]));
    strides.push_back(k.param(x_strides[d]));
  }
  Term slice = k.param(inner), has_slices = k.index(0) < k.param(addressed);
  auto tuple = static_cast<int64_t>(depth);
  llvm::SmallVector<Axis> axes = {
      {product(shape, 0, batch), {addressed * inner, rows * tuple, rows * inner}},
      {rows, {0, tuple, inner}}};
  k.for_items(axes, {0, 0, 0}, [&](auto, auto offsets) {
    k.when(
        has_slices,
        [&] {
          Term from = offsets[0];
          for (size_t d = 0; d < depth; ++d) {
            Term at = offsets[1] + static_cast<int64_t>(d);
            from = from + clamped_index(k, indices, at, sizes[d]) * strides[d];
          }
          copy_slice(k, x, from, result, offsets[2], inner, slice);
        },
        [&] { k.fill(result, offsets[2], slice, k.zero(result)); });
  });
  return k.launch(count_items(axes), grain_of_bytes(inner * byte_size(dtype_of(op.getX()))));
}

}  // namespace scopevm::compiler::kernels

// one_hot: along the new dim, the result is `on` at the index and `off` elsewhere. A work item
// computes the results of one row of indices.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {

// The shape of `indices` is [before..., after...], and that of the result [before..., depth,
// after...].
llvm::LogicalResult lower(graph::OneHotOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "one_hot");
  Buffer indices = k.operand(op.getIndices(), Elements::kNumbers);
  Buffer values = k.operand(op.getValues()), result = k.result(op.getResult());
  auto axis = static_cast<size_t>(op.getAxis());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getResult());
  DimExpr after = product(shape, axis + 1, shape.size());
  Term depth = k.param(shape[axis]), row = k.param(after);
  Term off = k.load(values, k.index(0)), on = k.load(values, k.index(1));
  llvm::SmallVector<Axis> axes = {{product(shape, 0, axis), {after, shape[axis] * after}}};
  k.for_items(axes, {0, 0}, [&](auto, auto offsets) {
    k.loop(k.index(0), depth, 1, [&](Term at) {
      k.loop(k.index(0), row, 1, [&](Term i) {
        Term hot = k.load_index(indices, offsets[0] + i, depth) == at;
        k.store(result, offsets[1] + at * row + i, select(hot, on, off));
      });
    });
  });
  return k.launch(count_items(axes),
                  grain_of_bytes(shape[axis] * after * byte_size(dtype_of(op.getResult()))));
}

}  // namespace scopevm::compiler::kernels

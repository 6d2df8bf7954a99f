// Results made from little or no data: iota, dims_tensor, one_hot.
#include "compiler/kernels/movement/kernel_builder.h"
#include "compiler/kernels/movement/lower_movement.h"

namespace scopevm::compiler::kernels::movement {
namespace {

Val constant_of(Val like, mlir::TypedAttr number) {
  if (auto real = mlir::dyn_cast<mlir::FloatAttr>(number))
    return like.literal(real.getValueAsDouble());
  return like.literal(mlir::cast<mlir::IntegerAttr>(number).getValue().getSExtValue());
}

}  // namespace

llvm::LogicalResult lower_iota(graph::IotaOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "iota");
  Buffer result = k.result(op.getResult(), Elements::kNumbers);
  k.loop(k.begin(), k.end(), 1, [&](Val i) {
    Val step = convert(i, k.number_type(result));
    k.store_number(result, i,
                   constant_of(step, op.getStart()) + step * constant_of(step, op.getStep()));
  });
  return k.launch(element_count(shape_of(op.getResult())), byte_size(result.dtype));
}

llvm::LogicalResult lower_dims_tensor(graph::DimsTensorOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "dims_tensor");
  Buffer result = k.result(op.getResult(), Elements::kNumbers);
  for (auto [i, dim] : llvm::enumerate(op.getDims().getValue()))
    k.store_number(result, k.index(static_cast<int64_t>(i)),
                   convert(k.param(dim), k.number_type(result)));
  return k.launch(1, 1);
}

// indices: [before..., after...]; result: [before..., depth, after...].
llvm::LogicalResult lower_one_hot(graph::OneHotOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "one_hot");
  Buffer indices = k.operand(op.getIndices(), Elements::kNumbers);
  Buffer values = k.operand(op.getValues()), result = k.result(op.getResult());
  auto axis = static_cast<size_t>(op.getAxis());
  llvm::ArrayRef<DimExpr> shape = shape_of(op.getResult());
  DimExpr after = product(shape, axis + 1, shape.size());
  Val depth = k.param(shape[axis]), row = k.param(after);
  Val off = k.load(values, k.index(0)), on = k.load(values, k.index(1));
  llvm::SmallVector<Axis> axes = {{product(shape, 0, axis), {after, shape[axis] * after}}};
  k.for_items(axes, {0, 0}, [&](auto, auto offsets) {
    k.loop(k.index(0), depth, 1, [&](Val at) {
      k.loop(k.index(0), row, 1, [&](Val i) {
        Val hot = k.load_index(indices, offsets[0] + i, depth) == at;
        k.store(result, offsets[1] + at * row + i, select(hot, on, off));
      });
    });
  });
  return k.launch(count_items(axes), shape[axis] * after * byte_size(dtype_of(op.getResult())));
}

}  // namespace scopevm::compiler::kernels::movement

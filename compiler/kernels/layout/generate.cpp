// Results computed from dims and attributes only: iota, dims_tensor.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

Term constant_of(Term like, mlir::TypedAttr number) {
  if (auto real = mlir::dyn_cast<mlir::FloatAttr>(number))
    return like.number(real.getValueAsDouble());
  return number_like(like, mlir::cast<mlir::IntegerAttr>(number).getValue().getSExtValue());
}

}  // namespace

llvm::LogicalResult lower(graph::IotaOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "iota");
  Buffer result = k.result(op.getResult(), Elements::kNumbers);
  k.loop(k.begin(), k.end(), 1, [&](Term i) {
    Term step = convert(i, k.number_type(result));
    k.store_number(result, i,
                   constant_of(step, op.getStart()) + step * constant_of(step, op.getStep()));
  });
  return k.launch(element_count(shape_of(op.getResult())), grain_of_bytes(byte_size(result.dtype)));
}

llvm::LogicalResult lower(graph::DimsTensorOp op, LoweringContext& context) {
  KernelBuilder k(context, op, "dims_tensor");
  Buffer result = k.result(op.getResult(), Elements::kNumbers);
  for (auto [i, dim] : llvm::enumerate(op.getDims().getValue()))
    k.store_number(result, k.index(static_cast<int64_t>(i)),
                   convert(k.param(dim), k.number_type(result)));
  return k.launch(1, grain_of_bytes(1));
}

}  // namespace scopevm::compiler::kernels

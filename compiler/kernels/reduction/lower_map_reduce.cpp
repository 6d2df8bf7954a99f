// Selects the generator of an op or group. A group has at most one op that is not elementwise; this
// op determines the generator.
#include "compiler/kernels/elementwise/map.h"
#include "compiler/kernels/generators.h"
#include "compiler/kernels/op_lowerings.h"
#include "compiler/kernels/reduction/reduction.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_map_reduce(mlir::Operation* op, LoweringContext& context) {
  using namespace graph;
  FusedBody body = fused_body(op);
  mlir::Operation* special = nullptr;
  for (mlir::Operation* inner : body.ops) {
    if (mlir::isa<ElementwiseOp>(inner)) continue;
    if (special)
      return op->emitError("expected at most one op of the group that is not elementwise");
    special = inner;
  }
  if (!special) return lower_map(body, context);
  if (mlir::isa<ReductionOp>(special)) return lower_reduction(body, special, context);
  if (mlir::isa<LayerNormOp>(special)) return lower_rows(body, special, context);
  bool is_alone = body.ops.size() == 1;
  if (auto row = mlir::dyn_cast<RowOp>(special)) {
    graph::TensorType type = graph::type_of(special->getOperand(0));
    bool is_inner = true;
    // Dims of size 1 do not change the layout. An axis is therefore innermost if all later dims are
    // 1.
    for (int64_t i = row.getRowAxis() + 1; i < type.getRank(); ++i)
      is_inner = is_inner && type.getDim(i).is_constant(1);
    if (is_inner) return lower_rows(body, special, context);
    if (is_alone) return lower_columns(special, context);
  }
  if (is_alone && mlir::isa<ArgMaxOp, ArgMinOp, CumSumOp, CumProdOp>(special))
    return lower_lines(special, context);
  return op->emitError("no map or reduce kernel for ") << special->getName();
}

llvm::LogicalResult lower(graph::ArgMaxOp op, LoweringContext& context) {
  return lower_map_reduce(op, context);
}
llvm::LogicalResult lower(graph::ArgMinOp op, LoweringContext& context) {
  return lower_map_reduce(op, context);
}
llvm::LogicalResult lower(graph::CumSumOp op, LoweringContext& context) {
  return lower_map_reduce(op, context);
}
llvm::LogicalResult lower(graph::CumProdOp op, LoweringContext& context) {
  return lower_map_reduce(op, context);
}

}  // namespace scopevm::compiler::kernels

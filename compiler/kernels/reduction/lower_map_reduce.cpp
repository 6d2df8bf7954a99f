// Chooses the generator of an elementwise op, a reduction or a group: by its one op that is not
// elementwise, if it has one.
#include "compiler/kernels/elementwise/map.h"
#include "compiler/kernels/generator.h"
#include "compiler/kernels/reduction/reduction.h"

namespace scopevm::compiler::kernels {

llvm::LogicalResult lower_map_reduce(mlir::Operation* op, LoweringContext& context) {
  using namespace graph;
  FusedBody body = fused_body(op);
  mlir::Operation* special = nullptr;
  for (mlir::Operation* inner : body.ops) {
    if (is_elementwise(inner)) continue;
    if (special) return op->emitError("a group has at most one op that is not elementwise");
    special = inner;
  }
  if (!special) return lower_map(body, context);
  if (mlir::isa<ReduceSumOp, ReduceMeanOp, ReduceProdOp, ReduceMaxOp, ReduceMinOp>(special))
    return lower_reduction(body, special, context);
  if (mlir::isa<LayerNormOp>(special)) return lower_rows(body, special, context);
  bool is_alone = body.ops.size() == 1;
  if (mlir::isa<SoftmaxOp, LogSoftmaxOp>(special)) {
    graph::TensorType type = tensor_type(special->getOperand(0));
    int64_t axis = special->getAttrOfType<mlir::IntegerAttr>("axis").getInt();
    bool is_inner = true;
    for (int64_t i = axis + 1; i < type.getRank(); ++i)
      is_inner = is_inner && type.getDim(i).is_constant(1);
    if (is_inner) return lower_rows(body, special, context);
    if (is_alone) return lower_columns(special, context);
  }
  if (is_alone && mlir::isa<ArgMaxOp, ArgMinOp, CumSumOp>(special))
    return lower_lines(special, context);
  return op->emitError("no map or reduce kernel for ") << special->getName();
}

}  // namespace scopevm::compiler::kernels

// Graph -> the same graph with less in it: known shape arithmetic becomes constants or
// sv.dims_tensor, and what nobody uses goes.
#include "compiler/graph/passes.h"
#include "compiler/graph/symbolic_values.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace scopevm::graph {
namespace {

void materialise_known_values(mlir::func::FuncOp function) {
  SymbolicValues symbols{DimIntervals()};
  mlir::OpBuilder builder(function.getContext());
  for (mlir::Operation& op : function.getBody().front()) {
    if (op.getNumResults() != 1 || mlir::isa<ConstantOp, DimsTensorOp>(op)) continue;
    mlir::Value result = op.getResult(0);
    const std::vector<DimExpr>* elements = symbols.find(result);
    if (!elements) continue;
    builder.setInsertionPointAfter(&op);
    mlir::Value known =
        materialise(builder, op.getLoc(), mlir::cast<TensorType>(result.getType()), *elements);
    if (known) result.replaceAllUsesWith(known);
  }
}

}  // namespace

void remove_unused(mlir::func::FuncOp function) {
  mlir::Block& block = function.getBody().front();
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && mlir::isPure(&op) && !op.hasTrait<mlir::OpTrait::IsTerminator>())
      op.erase();
}

llvm::LogicalResult simplify(mlir::ModuleOp module) {
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal() || !function.getBody().hasOneBlock()) continue;
    materialise_known_values(function);
    remove_unused(function);
  }
  return mlir::success();
}

}  // namespace scopevm::graph

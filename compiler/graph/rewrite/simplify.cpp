// Graph -> the same graph with less in it: constants folded, known shape arithmetic as constants or
// sv.dims_tensor, ops that do nothing and ops whose results nobody uses gone.
//   fold_constants.cpp   evaluates ops on constants
//   rewrites.cpp         patterns of several ops
#include "compiler/graph/infer/symbolic_values.h"
#include "compiler/graph/rewrite/fold_constants.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/graph/rewrite/rewrites.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::graph {
namespace {

// Rewrites make room for each other; a few rounds reach the end on real graphs.
constexpr int kMaxRounds = 4;

// Ops outside of groups, in program order: what a block computes comes before the regions below it.
llvm::SmallVector<mlir::Operation*> all_ops(mlir::func::FuncOp function) {
  llvm::SmallVector<mlir::Operation*> ops;
  function.getBody().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    ops.push_back(op);
    return mlir::isa<GroupOp>(op) ? mlir::WalkResult::skip() : mlir::WalkResult::advance();
  });
  return ops;
}

void materialise_known_values(mlir::func::FuncOp function) {
  SymbolicValues symbols{DimIntervals()};
  mlir::OpBuilder builder(function.getContext());
  for (mlir::Operation* op : all_ops(function)) {
    if (op->getNumResults() != 1 || mlir::isa<ConstantOp, DimsTensorOp>(op)) continue;
    mlir::Value result = op->getResult(0);
    const std::vector<DimExpr>* elements = symbols.find(result);
    if (!elements) continue;
    builder.setInsertionPointAfter(op);
    mlir::Value known =
        materialise(builder, op->getLoc(), mlir::cast<TensorType>(result.getType()), *elements);
    if (known) result.replaceAllUsesWith(known);
  }
}

// Replaces ops on constants by constants, and the ops that rewrites.h knows. True on a change.
bool rewrite_once(mlir::func::FuncOp function) {
  bool changed = false;
  mlir::OpBuilder builder(function.getContext());
  for (mlir::Operation* op : all_ops(function)) {
    if (op->use_empty() || op->getNumRegions() > 0) continue;
    builder.setInsertionPoint(op);
    mlir::Value replacement;
    if (mlir::ElementsAttr value = fold_constants(op))
      replacement = builder.create<ConstantOp>(op->getLoc(), op->getResult(0).getType(), value);
    else
      replacement = rewrite(op, builder);
    if (!replacement || replacement == op->getResult(0)) continue;
    op->getResult(0).replaceAllUsesWith(replacement);
    changed = true;
  }
  return changed;
}

}  // namespace

void remove_unused(mlir::func::FuncOp function) {
  const llvm::SmallVector<mlir::Operation*> ops = all_ops(function);
  for (mlir::Operation* op : llvm::reverse(ops)) {
    bool is_removable =
        mlir::isa<IfOp, LoopOp>(op) ? mlir::isMemoryEffectFree(op) : mlir::isPure(op);
    if (op->use_empty() && is_removable && !op->hasTrait<mlir::OpTrait::IsTerminator>())
      op->erase();
  }
}

llvm::LogicalResult simplify(mlir::ModuleOp module) {
  remove_unused_functions(module);
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isExternal() || !function.getBody().hasOneBlock()) continue;
    materialise_known_values(function);
    remove_unused(function);
    for (int round = 0; round < kMaxRounds && rewrite_once(function); ++round)
      remove_unused(function);
  }
  return mlir::success();
}

}  // namespace scopevm::compiler::graph

// The call graph of a module: callees and blocks of a function, and removal of unreachable
// functions and unused declarations of external functions.
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/passes.h"
#include "llvm/ADT/SetVector.h"

namespace scopevm::compiler::graph {

llvm::SmallVector<mlir::func::FuncOp> callees_of(mlir::func::FuncOp function) {
  auto module = function->getParentOfType<mlir::ModuleOp>();
  llvm::SetVector<mlir::Operation*> callees;
  function.walk<mlir::WalkOrder::PreOrder>([&](FunctionUserOp user) {
    if (auto callee = module.lookupSymbol<mlir::func::FuncOp>(user.getCalleeAttr()))
      callees.insert(callee);
  });
  return llvm::map_to_vector(
      callees, [](mlir::Operation* callee) { return mlir::cast<mlir::func::FuncOp>(callee); });
}

llvm::SmallVector<mlir::Block*> blocks_of(mlir::func::FuncOp function) {
  llvm::SmallVector<mlir::Block*> blocks = {&function.getBody().front()};
  function.walk<mlir::WalkOrder::PreOrder>([&](mlir::RegionBranchOpInterface op) {
    for (mlir::Region& region : op->getRegions()) blocks.push_back(&region.front());
  });
  return blocks;
}

void remove_unused_functions(mlir::ModuleOp module) {
  llvm::SetVector<mlir::Operation*> used;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic()) used.insert(function);
  // A worklist: insertion appends to the set that the loop walks. Recursive functions that no
  // public function reaches are removed too.
  for (size_t i = 0; i < used.size(); ++i)
    for (mlir::func::FuncOp callee : callees_of(mlir::cast<mlir::func::FuncOp>(used[i])))
      used.insert(callee);
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>()))
    if (!used.contains(function)) function.erase();
  for (auto declaration : llvm::make_early_inc_range(module.getOps<ExternOp>()))
    if (mlir::SymbolTable::symbolKnownUseEmpty(declaration, module)) declaration.erase();
}

}  // namespace scopevm::compiler::graph

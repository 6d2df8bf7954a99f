// See the header.
#include "compiler/graph/loop_body.h"

namespace scopevm::graph {
namespace {

bool has_any(llvm::ArrayRef<DimExpr> dims, const std::set<std::string>& symbols) {
  return llvm::any_of(dims, [&](DimExpr dim) {
    return llvm::any_of(dim.symbols(),
                        [&](const std::string& symbol) { return symbols.contains(symbol); });
  });
}

}  // namespace

std::set<std::string> symbols_born_in(LoopOp loop) {
  std::set<std::string> born;
  auto add = [&](mlir::ArrayAttr symbols) {
    for (llvm::StringRef symbol : symbols.getAsValueRange<mlir::StringAttr>()) {
      born.insert(symbol.str());
      born.insert(symbol.str() + ".neg");
    }
  };
  auto add_loop = [&](LoopOp op) {
    born.insert(op.getIndex().str());
    add(op.getCarriedSymbols());
  };
  add_loop(loop);
  loop.getBody().walk([&](mlir::Operation* op) {
    if (auto read = mlir::dyn_cast<ReadDimsOp>(op)) add(read.getSymbols());
    if (auto branch = mlir::dyn_cast<IfOp>(op)) add(branch.getSymbols());
    if (auto inner = mlir::dyn_cast<LoopOp>(op)) {
      add(inner.getSymbols());
      add_loop(inner);
    }
  });
  return born;
}

bool mentions(mlir::Operation* op, const std::set<std::string>& symbols) {
  for (mlir::Type type : op->getResultTypes())
    if (has_any(mlir::cast<TensorType>(type).getShape(), symbols)) return true;
  return llvm::any_of(op->getAttrs(), [&](mlir::NamedAttribute attribute) {
    auto dims = mlir::dyn_cast<DimsAttr>(attribute.getValue());
    return dims && has_any(dims.getValue(), symbols);
  });
}

bool is_outside(mlir::Value value, LoopOp loop) {
  return !loop.getBody().isAncestor(value.getParentRegion());
}

}  // namespace scopevm::graph

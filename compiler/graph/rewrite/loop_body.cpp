// Queries about loop bodies, and removal of checks that always hold; see loop_body.h.
#include "compiler/graph/rewrite/loop_body.h"

#include "compiler/graph/diagnostics/loop_bounds.h"

namespace scopevm::compiler::graph {
namespace {

bool has_any(llvm::ArrayRef<DimExpr> dims, const std::set<std::string>& symbols) {
  return llvm::any_of(dims, [&](DimExpr dim) {
    return llvm::any_of(dim.symbols(),
                        [&](const std::string& symbol) { return symbols.contains(symbol); });
  });
}

void add(mlir::ArrayAttr symbols, std::set<std::string>& defined) {
  for (llvm::StringRef symbol : symbols.getAsValueRange<mlir::StringAttr>()) {
    defined.insert(symbol.str());
    // An integer element n of unknown sign is represented as the difference of two non-negative
    // symbols: n and n.neg.
    defined.insert(symbol.str() + ".neg");
  }
}

void add_own(LoopOp loop, std::set<std::string>& defined) {
  defined.insert(loop.getIndex().str());
  add(loop.getCarriedSymbols(), defined);
}

}  // namespace

std::set<std::string> symbols_defined_in(mlir::Region& region) {
  std::set<std::string> defined;
  region.walk([&](mlir::Operation* op) {
    if (auto read = mlir::dyn_cast<ReadDimsOp>(op)) add(read.getSymbols(), defined);
    if (auto get = mlir::dyn_cast<ListGetOp>(op)) add(get.getSymbols(), defined);
    if (auto size = mlir::dyn_cast<ListSizeOp>(op)) defined.insert(size.getSymbol().str());
    if (auto branch = mlir::dyn_cast<IfOp>(op)) add(branch.getSymbols(), defined);
    if (auto call = mlir::dyn_cast<CallOp>(op)) add(call.getSymbols(), defined);
    if (auto call = mlir::dyn_cast<CallClosureOp>(op)) add(call.getSymbols(), defined);
    if (auto loop = mlir::dyn_cast<LoopOp>(op)) {
      add(loop.getSymbols(), defined);
      add_own(loop, defined);
    }
  });
  return defined;
}

std::set<std::string> symbols_defined_in(LoopOp loop) {
  std::set<std::string> defined = symbols_defined_in(loop.getBody());
  add_own(loop, defined);
  return defined;
}

std::set<std::string> result_symbols(mlir::Operation* op) {
  std::set<std::string> defined;
  if (auto branch = mlir::dyn_cast<IfOp>(op)) add(branch.getSymbols(), defined);
  if (auto loop = mlir::dyn_cast<LoopOp>(op)) add(loop.getSymbols(), defined);
  return defined;
}

bool mentions(mlir::Operation* op, const std::set<std::string>& symbols) {
  for (mlir::Type type : op->getResultTypes())
    if (auto tensor = mlir::dyn_cast<TensorType>(type))
      if (has_any(tensor.getShape(), symbols)) return true;
  return llvm::any_of(op->getAttrs(), [&](mlir::NamedAttribute attribute) {
    auto dims = mlir::dyn_cast<DimsAttr>(attribute.getValue());
    return dims && has_any(dims.getValue(), symbols);
  });
}

bool is_outside(mlir::Value value, LoopOp loop) {
  return !loop.getBody().isAncestor(value.getParentRegion());
}

bool drop_checks(LoopOp loop) {
  bool changed = false;
  for (mlir::Operation& op : llvm::make_early_inc_range(loop.getBody().front())) {
    auto check = mlir::dyn_cast<RequireOp>(op);
    if (!check || check.getKind() != RequireKind::kAtLeast) continue;
    llvm::ArrayRef<DimExpr> sides = check.getDims().getValue();
    // If the difference is never negative at its minimum, the check holds in every iteration.
    if (!is_never_negative(at_last_iteration(sides[0] - sides[1], check))) continue;
    check.erase();
    changed = true;
  }
  return changed;
}

}  // namespace scopevm::compiler::graph

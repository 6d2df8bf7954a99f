// Bounds over loop iterations; see loop_bounds.h.
#include "compiler/graph/diagnostics/loop_bounds.h"

namespace scopevm::compiler::graph {

DimExpr at_last_iteration(DimExpr e, mlir::Operation* op) {
  for (auto loop = op->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>()) {
    llvm::ArrayRef<DimExpr> trip_count = loop.getTripCount().getValue();
    if (trip_count.empty()) continue;
    auto with = [&](DimExpr count) {
      return e.substitute([&](std::string_view name) {
        return name == std::string_view(loop.getIndex()) ? std::optional(count) : std::nullopt;
      });
    };
    // The expression is linear in the index if its difference between consecutive iterations is
    // constant. It is then least in the first or in the last iteration. An increasing expression is
    // not changed: the fact that the index is at least 0 already covers the first iteration.
    std::optional<int64_t> slope =
        (with(DimExpr::symbol(loop.getIndex().str()) + 1) - e).as_constant();
    if (slope && *slope < 0) e = with(trip_count.front() - 1);
  }
  return e;
}

}  // namespace scopevm::compiler::graph

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
    // constant. Its least value is then at iteration 0, which the proof covers since the index is
    // at least 0, or at the last iteration.
    std::optional<int64_t> slope =
        (with(DimExpr::symbol(loop.getIndex().str()) + 1) - e).as_constant();
    if (slope && *slope < 0) e = with(trip_count.front() - 1);
  }
  return e;
}

}  // namespace scopevm::compiler::graph

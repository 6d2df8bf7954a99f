// Decisions from the intervals of dimension expressions: see dim_interval.h.
#include "compiler/graph/values/dim_interval.h"

namespace scopevm::compiler::graph {

DimExpr DimIntervals::smaller(DimExpr a, DimExpr b) const {
  DimInterval difference = of(b - a);
  if (difference.min >= 0) return a;
  if (difference.max <= 0) return b;
  return min(a, b);
}

DimExpr DimIntervals::greater(DimExpr a, DimExpr b) const {
  DimInterval difference = of(b - a);
  if (difference.min >= 0) return b;
  if (difference.max <= 0) return a;
  return max(a, b);
}

}  // namespace scopevm::compiler::graph

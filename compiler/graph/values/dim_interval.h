// What is known of a dimension expression's value: an interval, from the facts about its symbols.
#pragma once

#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler::graph {

using compiler::DimInterval;

class DimIntervals {
 public:
  DimInterval of(DimExpr e) const { return interval_of(e); }
  bool is_at_least(DimExpr e, int64_t bound) const { return of(e).min >= bound; }

  // min and max, decided where the intervals decide them.
  DimExpr smaller(DimExpr a, DimExpr b) const;
  DimExpr greater(DimExpr a, DimExpr b) const;
};

}  // namespace scopevm::compiler::graph

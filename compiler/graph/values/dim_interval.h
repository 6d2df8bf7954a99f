// Interval analysis of dimension expressions, from the facts about their symbols.
#pragma once

#include "compiler/dims/dim_expr.h"

namespace scopevm::compiler::graph {

using compiler::DimInterval;

class DimIntervals {
 public:
  DimInterval of(DimExpr e) const { return interval_of(e); }
  bool is_at_least(DimExpr e, int64_t bound) const { return of(e).min >= bound; }

  // min and max, simplified to one operand if the intervals prove which one it is.
  DimExpr smaller(DimExpr a, DimExpr b) const;
  DimExpr greater(DimExpr a, DimExpr b) const;
};

}  // namespace scopevm::compiler::graph

// What is known of a dimension expression's value: an interval, from the bounds of its symbols.
#pragma once

#include <map>
#include <string>

#include "compiler/shapes/dim_expr.h"

namespace scopevm::graph {

struct DimInterval {
  int64_t min;
  int64_t max;
};

class DimIntervals {
 public:
  // Symbols without bounds are dimensions of a request: 1 or more; or, with a '$', 0 or more.
  void set(const std::string& symbol, DimInterval interval) { symbols_[symbol] = interval; }

  // Bounds of every value that `e` can take; saturated at the ends of int64.
  DimInterval of(DimExpr e) const;
  bool is_at_least(DimExpr e, int64_t bound) const { return of(e).min >= bound; }

  // min and max, decided where the intervals decide them.
  DimExpr smaller(DimExpr a, DimExpr b) const;
  DimExpr greater(DimExpr a, DimExpr b) const;

 private:
  std::map<std::string, DimInterval, std::less<>> symbols_;
};

}  // namespace scopevm::graph

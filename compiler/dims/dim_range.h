// Ranges of dimension expressions, as expressions over the ends of their symbols' ranges: interval
// arithmetic (Moore, 1966) on expressions.
#pragma once

#include <functional>
#include <string_view>

#include "compiler/dims/dim_expr.h"

namespace scopevm::compiler {

// Every value of an expression is in [least, most].
struct DimRange {
  DimExpr least;
  DimExpr most;
};

// The range of `e` where each symbol is in the range `of_symbol`. It is exact if the expression
// does not decrease in any symbol, or if all ranges have one element. REQUIRES: symbols are not
// negative and divisors are positive, as in DimExpr.
DimRange range_of(DimExpr e, const std::function<DimRange(std::string_view)>& of_symbol);

}  // namespace scopevm::compiler

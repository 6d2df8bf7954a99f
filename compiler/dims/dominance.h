// Proves that one size is never below another, to simplify printed formulas. Stronger and slower
// than is_never_negative(), on which it builds. Private to compiler/dims.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/dims/dim_expr.h"

namespace scopevm::compiler::dims {

// Proves that differences are never negative, by is_never_negative() for small ones, or by one of
// two rules:
//
//   terms:  4*ceildiv(n, 4)*m - 3*ceildiv(n, 8) is proved term by term for m >= 1, because the
//           first term has a larger coefficient and larger factors
//   floors: floordiv(x, d) is between (x - d + 1)/d and x/d. A difference that is a multiple of g
//           is not negative if it is above -g.
class DominanceProver {
 public:
  bool prove(DimExpr difference);

 private:
  bool is_not_negative(DimExpr factor);
  bool is_factor_at_least(DimExpr a, DimExpr b);
  bool is_product_at_least(std::vector<DimExpr> a, const std::vector<DimExpr>& b);
  bool is_covered_by_terms(DimExpr difference);
  std::optional<DimExpr> without_largest_floor(DimExpr e);

  std::unordered_map<DimExpr, bool> is_not_negative_;  // factors of terms
};

}  // namespace scopevm::compiler::dims

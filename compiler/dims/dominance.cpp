// Proofs over terms and floors; see dominance.h.
#include "compiler/dims/dominance.h"

#include <algorithm>
#include "compiler/dims/polynomial.h"

namespace scopevm::compiler::dims {
namespace {

using Kind = DimExpr::Kind;

// The expression floordiv(dividend, divisor). The divisor is 1 if the expression is not a floordiv
// by a constant.
struct Quotient {
  DimExpr dividend;
  int64_t divisor;
};

Quotient quotient_of(DimExpr e) {
  if (e.kind() == Kind::kFloorDiv)
    if (const auto d = e.operands()[1].as_constant(); d && *d > 0) return {e.operands()[0], *d};
  return {e, 1};
}

// Proves floordiv(x, d) >= floordiv(x + c, d*r) for constants c, d and r with c <= d*(r - 1). `a`
// is the left side, and `b` is the right side. REQUIRES: `a` is not negative.
bool is_finer_quotient(DimExpr a, DimExpr b) {
  const Quotient fine = quotient_of(a), coarse = quotient_of(b);
  if (coarse.divisor % fine.divisor != 0) return false;
  const auto shift = (coarse.dividend - fine.dividend).as_constant();
  return shift && *shift <= coarse.divisor - fine.divisor;
}

bool is_at_least_one(DimExpr e) { return interval_of(e).min >= 1; }

// Larger expressions are not proved by cases, which is slow.
constexpr size_t kLargestProvedByCases = 64;  // nodes

}  // namespace

bool DominanceProver::is_not_negative(DimExpr factor) {
  auto [known, is_new] = is_not_negative_.try_emplace(factor, false);
  if (is_new)
    known->second = tree_size(factor) <= kLargestProvedByCases && is_never_negative(factor);
  return known->second;
}

bool DominanceProver::is_factor_at_least(DimExpr a, DimExpr b) {
  return a == b || is_finer_quotient(a, b) || is_not_negative(a - b);
}

// Compares products of non-negative factors. True if each factor of `b` is matched with a factor of
// `a` that is at least as large. The other factors of `a` must be at least 1.
bool DominanceProver::is_product_at_least(std::vector<DimExpr> a, const std::vector<DimExpr>& b) {
  for (DimExpr factor : b) {
    if (!is_not_negative(factor)) return false;
    // Equal factors are matched first: a proof of another pair could use up the factor that an
    // equal one needs.
    auto larger = std::ranges::find(a, factor);
    if (larger == a.end())
      larger = std::ranges::find_if(a, [&](DimExpr f) { return is_factor_at_least(f, factor); });
    if (larger == a.end()) return false;
    a.erase(larger);
  }
  return std::ranges::all_of(a, is_at_least_one);
}

// True if parts of larger positive terms cover each negative term.
bool DominanceProver::is_covered_by_terms(DimExpr difference) {
  Polynomial positive, negative;
  for (const auto& [monomial, coefficient] : to_polynomial(difference)) {
    (coefficient > 0 ? positive : negative)[monomial] = coefficient;
    if (coefficient > 0 &&
        !std::ranges::all_of(monomial, [&](DimExpr factor) { return is_not_negative(factor); }))
      return false;
  }
  for (auto& [monomial, missing] : negative)
    for (auto& [larger, available] : positive) {
      if (missing == 0) break;
      if (available == 0 || !is_product_at_least(larger, monomial)) continue;
      // Greedy: the part of a positive term that covers one negative term is not available for the
      // next. A failure proves nothing.
      const int64_t covered = std::min(available, -missing);
      available -= covered;
      missing += covered;
    }
  return std::ranges::all_of(negative, [](const auto& term) { return term.second == 0; });
}

// A lower bound of a positive multiple of `e`, without the largest floordiv. Empty if there is none
// to replace.
std::optional<DimExpr> DominanceProver::without_largest_floor(DimExpr e) {
  DimExpr largest, factor_of_largest;
  for (const auto& [monomial, coefficient] : to_polynomial(e))
    for (size_t i = 0; i < monomial.size(); ++i) {
      if (quotient_of(monomial[i]).divisor == 1) continue;
      // The largest one first, since it may contain smaller ones.
      if (tree_size(monomial[i]) <= tree_size(largest)) continue;
      DimExpr factor = coefficient;
      for (size_t k = 0; k < monomial.size(); ++k)
        if (k != i) factor = factor * monomial[k];
      if (!is_not_negative(coefficient > 0 ? factor : DimExpr(0) - factor)) continue;
      largest = monomial[i];
      factor_of_largest = factor;
    }
  const auto [x, d] = quotient_of(largest);
  if (d == 1) return std::nullopt;
  // d*floordiv(x, d) is at least x - d + 1 and at most x. The sign of its factor decides which of
  // the two bounds the sum from below.
  const bool is_positive = is_not_negative(factor_of_largest);
  const DimExpr bound = is_positive ? x - DimExpr(d) + DimExpr(1) : x;
  return DimExpr(d) * (e - factor_of_largest * largest) + factor_of_largest * bound;
}

bool DominanceProver::prove(DimExpr difference) {
  if (is_covered_by_terms(difference)) return true;
  if (tree_size(difference) <= kLargestProvedByCases && is_never_negative(difference)) return true;
  constexpr int kMostFloors = 6;
  // A multiple of g is non-negative if it is greater than -g. Sizes are multiples of the alignment,
  // so this slack compensates for the imprecise bounds below.
  DimExpr bound = difference + DimExpr(known_factor(difference) - 1);
  for (int i = 0; i < kMostFloors; ++i) {
    const std::optional<DimExpr> next = without_largest_floor(bound);
    if (!next) return false;
    bound = *next;
    if (is_covered_by_terms(bound)) return true;
  }
  return false;
}

}  // namespace scopevm::compiler::dims

// Arithmetic of dimension expressions. Every operation except min and max converts to the normal
// form and back, so that equal polynomials share one interned node.
#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/dims/polynomial.h"

namespace scopevm::compiler {

using dims::Division;
using dims::floor_divide;
using dims::from_polynomial;
using dims::make;
using dims::Polynomial;
using dims::split_by_constant;
using dims::to_polynomial;
using Kind = DimExpr::Kind;

namespace {

// The largest number of nodes in an expanded product. Real shapes have tens; without a bound,
// repeated products of sums grow exponentially.
constexpr size_t kLargestProduct = 4096;

// A floordiv by a constant: floor(numerator / divisor).
struct Quotient {
  DimExpr numerator;
  int64_t divisor = 1;
};

// The division of `rest` by d. If `rest` is floor(x/e) + c for constants e > 0 and c, merges both
// divisions by the identity
//   floor((floor(x/e) + c) / d) = floor((x + c*e) / (e*d)).
Quotient merge_nested(const Polynomial& rest, int64_t d) {
  Quotient whole{from_polynomial(rest), d};
  int64_t constant = 0;
  DimExpr inner = 0;
  for (const auto& [monomial, coefficient] : rest) {
    if (monomial.empty()) {
      constant = coefficient;
      continue;
    }
    // The identity needs a single floordiv with coefficient 1.
    if (coefficient != 1 || monomial.size() != 1 || inner != DimExpr(0)) return whole;
    inner = monomial.front();
  }
  if (inner.kind() != Kind::kFloorDiv) return whole;
  std::optional<int64_t> e = inner.operands()[1].as_constant();
  int64_t divisor, shift;
  if (!e || *e <= 0 || __builtin_mul_overflow(*e, d, &divisor) ||
      __builtin_mul_overflow(constant, *e, &shift))
    return whole;
  return {inner.operands()[0] + DimExpr(shift), divisor};
}

// Removes from `p` the terms that are multiples of d according to the facts about their symbols;
// returns their sum divided by d. For a symbol n that is a multiple of 8, the atom in that sum is
// floordiv(n, 8), whatever d is.
DimExpr take_multiples(Polynomial& p, int64_t d) {
  DimExpr quotient = 0;
  std::erase_if(p, [&](const auto& term) {
    // The coefficient supplies the factor `common` of d; a symbol of the term must supply the rest.
    int64_t common = std::gcd(term.second, d), missing = d / common;
    for (size_t i = 0; i < term.first.size(); ++i) {
      DimExpr n = term.first[i];
      if (n.kind() != Kind::kSymbol) continue;
      int64_t factor = n.facts().multiple_of;
      if (factor == 1 || factor % missing != 0) continue;
      DimExpr divided = DimExpr(term.second / common) * DimExpr(factor / missing) *
                        make(Kind::kFloorDiv, {n, factor});
      for (size_t k = 0; k < term.first.size(); ++k)
        if (k != i) divided = divided * term.first[k];
      quotient = quotient + divided;
      return true;
    }
    return false;
  });
  return quotient;
}

DimExpr floordiv_by_constant(DimExpr a, int64_t d) {
  if (d == 1) return a;
  // Whole multiples of d leave the floor: if a = d*p + r, then floor(a / d) = p + floor(r / d).
  Division division = split_by_constant(to_polynomial(a), d);
  Polynomial& rest = division.remainder;
  DimExpr quotient = from_polynomial(division.quotient) + take_multiples(rest, d);
  // The remaining constant is in [0, d), so its quotient is 0.
  if (rest.empty() || (rest.size() == 1 && rest.begin()->first.empty())) return quotient;
  // Divides by g, the common divisor of d and of all coefficients except the constant c:
  //   floor((g*p + c) / (g*e)) = floor((p + floor(c/g)) / e), where d = g*e.
  int64_t constant = 0;
  if (auto it = rest.find({}); it != rest.end()) {
    constant = it->second;
    rest.erase(it);
  }
  int64_t g = dims::common_divisor(rest, d);
  for (auto& [monomial, coefficient] : rest) coefficient /= g;
  constant = floor_divide(constant, g);
  if (constant != 0) rest[{}] = constant;
  d /= g;
  if (d == 1) return quotient + from_polynomial(rest);
  Quotient merged = merge_nested(rest, d);
  // The larger divisor may divide more terms, so the merged division is simplified again.
  if (merged.divisor != d) return quotient + floordiv(merged.numerator, merged.divisor);
  return quotient + make(Kind::kFloorDiv, {merged.numerator, d});
}

bool is_at_least(DimExpr a, DimExpr b) {
  if (a == b) return true;
  // The difference of two symbols has no other proof than that of their facts. It is not built,
  // because a max of many symbols compares all pairs.
  if (a.kind() == Kind::kSymbol && b.kind() == Kind::kSymbol)
    return interval_of(a).min >= interval_of(b).max;
  return is_never_negative(a - b);
}

// min or max: flattened, without operands that another operand dominates.
DimExpr extremum(Kind kind, DimExpr a, DimExpr b) {
  std::vector<DimExpr> kept;  // sorted: min(a, b) and min(b, a) are one node
  auto wins = [&](DimExpr x, DimExpr y) {
    return kind == Kind::kMax ? is_at_least(x, y) : is_at_least(y, x);
  };
  auto add = [&](DimExpr term) {
    for (DimExpr other : kept)
      if (wins(other, term)) return;
    std::erase_if(kept, [&](DimExpr other) { return wins(term, other); });
    kept.insert(std::upper_bound(kept.begin(), kept.end(), term), term);
  };
  // No operand of a min or max dominates another one, so those of `a` are not compared again.
  if (a.kind() == kind)
    kept.assign(a.operands().begin(), a.operands().end());
  else
    kept = {a};
  if (b.kind() != kind) {
    add(b);
  } else {
    for (DimExpr operand : b.operands()) add(operand);
  }
  return kept.size() == 1 ? kept.front() : make(kind, std::move(kept));
}

// Divides by a divisor that is not constant. Empty if the quotient is 0 or the remainder can be
// negative: `ceildiv(n, m)` stays one floordiv if n can be 0.
std::optional<Division> divide(DimExpr a, DimExpr b) {
  std::optional<Division> division = dims::divide(to_polynomial(a), to_polynomial(b));
  if (!division || division->quotient.empty() ||
      !is_never_negative(from_polynomial(division->remainder)))
    return std::nullopt;
  return division;
}

}  // namespace

DimExpr operator+(DimExpr a, DimExpr b) {
  if (const std::optional<DimExpr> sum = dims::merge_sums(a, b)) return *sum;
  Polynomial sum = to_polynomial(a);
  for (const auto& [monomial, coefficient] : to_polynomial(b))
    // A coefficient that overflows 64 bits has no normal form: the sum stays as an opaque node, and
    // its evaluation reports the overflow.
    if (!dims::add_term(sum, monomial, coefficient)) return make(Kind::kAdd, {a, b}, true);
  return from_polynomial(sum);
}

DimExpr operator*(DimExpr a, DimExpr b) {
  for (const auto& [sum, factor] : {std::pair(a, b.as_constant()), std::pair(b, a.as_constant())})
    if (factor && *factor != INT64_MIN)
      if (const std::optional<DimExpr> product = dims::scale_sum(sum, *factor)) return *product;
  Polynomial x = to_polynomial(a), y = to_polynomial(b);
  std::optional<Polynomial> product;
  if (dims::tree_size(a) * y.size() + dims::tree_size(b) * x.size() <= kLargestProduct)
    product = dims::multiply(x, y);
  return product ? from_polynomial(*product) : make(Kind::kMul, {a, b}, true);
}

DimExpr operator-(DimExpr a, DimExpr b) { return a + b * DimExpr(-1); }

DimExpr floordiv(DimExpr a, DimExpr b) {
  if (auto d = b.as_constant()) {
    // A divisor below 1 is kept, since its evaluation must fail.
    if (*d > 0) return floordiv_by_constant(a, *d);
    return make(Kind::kFloorDiv, {a, b});
  }
  if (a.is_constant(0)) return 0;
  std::optional<Division> division = divide(a, b);
  if (!division) return make(Kind::kFloorDiv, {a, b});
  DimExpr quotient = from_polynomial(division->quotient);
  if (division->remainder.empty()) return quotient;
  return quotient + make(Kind::kFloorDiv, {from_polynomial(division->remainder), b});
}

DimExpr mod(DimExpr a, DimExpr b) {
  if (auto d = b.as_constant()) {
    if (*d <= 0) return make(Kind::kMod, {a, b});
    if (*d == 1) return 0;
    Polynomial remainder = split_by_constant(to_polynomial(a), *d).remainder;
    take_multiples(remainder, *d);
    DimExpr rest = from_polynomial(remainder);
    // split_by_constant() has made a constant remainder less than d.
    bool is_known = rest.is_constant() && *rest.as_constant() >= 0;
    return is_known ? rest : make(Kind::kMod, {rest, b});
  }
  if (a.is_constant(0)) return 0;
  std::optional<Division> division = divide(a, b);
  if (!division) return make(Kind::kMod, {a, b});
  if (division->remainder.empty()) return 0;
  return make(Kind::kMod, {from_polynomial(division->remainder), b});
}

DimExpr ceildiv(DimExpr a, DimExpr b) { return floordiv(a + b - DimExpr(1), b); }
DimExpr min(DimExpr a, DimExpr b) { return extremum(Kind::kMin, a, b); }
DimExpr max(DimExpr a, DimExpr b) { return extremum(Kind::kMax, a, b); }

DimExpr apply(format::FormulaOp op, DimExpr a, DimExpr b) {
  switch (op) {
    case format::FormulaOp::kAdd:
      return a + b;
    case format::FormulaOp::kMul:
      return a * b;
    case format::FormulaOp::kFloorDiv:
      return floordiv(a, b);
    case format::FormulaOp::kMod:
      return mod(a, b);
    case format::FormulaOp::kMin:
      return min(a, b);
    case format::FormulaOp::kMax:
      return max(a, b);
  }
  return a;
}

DimExpr round_up(DimExpr a, int64_t alignment) {
  return ceildiv(a, alignment) * DimExpr(alignment);
}

DimExpr element_count(std::span<const DimExpr> dims) {
  DimExpr count = 1;
  for (DimExpr dim : dims) count = count * dim;
  return count;
}

}  // namespace scopevm::compiler

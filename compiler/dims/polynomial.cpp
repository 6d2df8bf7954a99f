// Polynomials: conversion to and from expressions, sums, products, divisions.
#include "compiler/dims/polynomial.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>

namespace scopevm::compiler::dims {
namespace {

using Kind = DimExpr::Kind;

// The constant, if it is valid as a coefficient.
std::optional<int64_t> coefficient_of(DimExpr e) {
  std::optional<int64_t> constant = e.as_constant();
  // INT64_MIN has no negation: subtraction and std::abs of a coefficient would overflow.
  return constant == INT64_MIN ? std::nullopt : constant;
}

void read_term(DimExpr e, Monomial& monomial, int64_t& coefficient) {
  coefficient = 1;
  if (auto constant = coefficient_of(e)) {
    coefficient = *constant;
  } else if (e.kind() == Kind::kMul && !is_opaque(e)) {
    // An opaque product has no normal form: it is one atom.
    for (DimExpr factor : e.operands()) {
      if (auto constant = coefficient_of(factor))
        coefficient = *constant;
      else
        monomial.push_back(factor);
    }
  } else {
    monomial.push_back(e);
  }
}

DimExpr from_term(const Monomial& monomial, int64_t coefficient) {
  if (monomial.empty()) return coefficient;
  if (coefficient == 1 && monomial.size() == 1) return monomial.front();
  std::vector<DimExpr> factors;
  if (coefficient != 1) factors.push_back(coefficient);
  factors.insert(factors.end(), monomial.begin(), monomial.end());
  return make(Kind::kMul, std::move(factors));
}

// A term of a normal form, without copies: coefficient * factors.
struct TermView {
  std::span<const DimExpr> factors;
  int64_t coefficient = 1;
};

TermView view_term(const DimExpr& term) {
  if (auto constant = coefficient_of(term)) return {{}, *constant};
  if (term.kind() != Kind::kMul || is_opaque(term)) return {{&term, 1}};
  // from_term() puts the coefficient first.
  const std::span<const DimExpr> factors = term.operands();
  if (auto constant = coefficient_of(factors[0])) return {factors.subspan(1), *constant};
  return {factors};
}

// The terms of a normal form. REQUIRES: `e` outlives the result.
std::span<const DimExpr> terms_of(const DimExpr& e) {
  if (e.kind() == Kind::kAdd && !is_opaque(e)) return e.operands();
  return {&e, e.is_constant(0) ? size_t{0} : size_t{1}};
}

// The order of terms in a sum.
bool precedes(std::span<const DimExpr> a, std::span<const DimExpr> b) {
  return a.size() != b.size()
             ? a.size() > b.size()
             : std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

// A new coefficient may make undo_exact_division() apply to the term.
bool has_division(std::span<const DimExpr> factors) {
  return std::ranges::any_of(factors, [](DimExpr f) { return f.kind() == Kind::kFloorDiv; });
}

DimExpr from_terms(std::vector<DimExpr> terms) {
  if (terms.empty()) return 0;
  return terms.size() == 1 ? terms.front() : make(Kind::kAdd, std::move(terms));
}

// monomial / divisor. Empty if the divisor has a factor that the monomial does not have.
std::optional<Monomial> divide(const Monomial& monomial, const Monomial& divisor) {
  // Monomials are sorted multisets of atoms: n*n has two equal factors.
  if (!std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end()))
    return std::nullopt;
  Monomial quotient;
  std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                      std::back_inserter(quotient));
  return quotient;
}

// Orders by degree, then by factors; the leading term is the greatest.
bool is_less(const Monomial& a, const Monomial& b) {
  return a.size() != b.size() ? a.size() < b.size() : b < a;
}

Polynomial::const_iterator leading(const Polynomial& p) {
  return std::max_element(p.begin(), p.end(),
                          [](const auto& a, const auto& b) { return is_less(a.first, b.first); });
}

// Replaces one term 8*floordiv(n, 8) by n, where 8 is the known factor of n. Returns true if it
// did.
bool undo_exact_division(Polynomial& p) {
  for (const auto& [monomial, coefficient] : p)
    for (size_t i = 0; i < monomial.size(); ++i) {
      if (monomial[i].kind() != Kind::kFloorDiv) continue;
      DimExpr n = monomial[i].operands()[0];
      std::optional<int64_t> d = monomial[i].operands()[1].as_constant();
      if (n.kind() != Kind::kSymbol || n.facts().multiple_of != d || coefficient % *d != 0)
        continue;
      Monomial undone = monomial;
      undone[i] = n;
      std::sort(undone.begin(), undone.end());
      Polynomial changed = p;
      changed.erase(monomial);
      if (!add_term(changed, undone, coefficient / *d)) continue;
      p = std::move(changed);
      return true;
    }
  return false;
}

}  // namespace

bool add_term(Polynomial& to, const Monomial& monomial, int64_t coefficient) {
  int64_t& sum = to[monomial];
  if (__builtin_add_overflow(sum, coefficient, &sum) || sum == INT64_MIN) return false;
  if (sum == 0) to.erase(monomial);
  return true;
}

Polynomial to_polynomial(DimExpr e) {
  Polynomial result;
  auto add = [&](DimExpr term) {
    Monomial monomial;
    int64_t coefficient;
    read_term(term, monomial, coefficient);
    if (coefficient != 0) result[monomial] = coefficient;
  };
  if (e.kind() == Kind::kAdd && !is_opaque(e))
    for (DimExpr term : e.operands()) add(term);
  else
    add(e);
  return result;
}

// Terms of higher degree come first, the constant last: `n*m+2*n+1`.
DimExpr from_polynomial(Polynomial polynomial) {
  while (undo_exact_division(polynomial)) continue;
  std::vector<std::pair<Monomial, int64_t>> terms(polynomial.begin(), polynomial.end());
  std::ranges::sort(terms, [](const auto& a, const auto& b) { return precedes(a.first, b.first); });
  std::vector<DimExpr> operands;
  for (const auto& [monomial, coefficient] : terms)
    operands.push_back(from_term(monomial, coefficient));
  return from_terms(std::move(operands));
}

std::optional<DimExpr> merge_sums(DimExpr a, DimExpr b) {
  const std::span<const DimExpr> x = terms_of(a), y = terms_of(b);
  std::vector<DimExpr> merged;
  merged.reserve(x.size() + y.size());
  size_t i = 0, j = 0;
  while (i < x.size() && j < y.size()) {
    const TermView p = view_term(x[i]), q = view_term(y[j]);
    if (precedes(p.factors, q.factors)) {
      merged.push_back(x[i++]);
    } else if (precedes(q.factors, p.factors)) {
      merged.push_back(y[j++]);
    } else {
      int64_t sum;
      if (__builtin_add_overflow(p.coefficient, q.coefficient, &sum) || sum == INT64_MIN ||
          has_division(p.factors))
        return std::nullopt;
      if (sum != 0) merged.push_back(from_term({p.factors.begin(), p.factors.end()}, sum));
      ++i, ++j;
    }
  }
  merged.insert(merged.end(), x.begin() + static_cast<ptrdiff_t>(i), x.end());
  merged.insert(merged.end(), y.begin() + static_cast<ptrdiff_t>(j), y.end());
  return from_terms(std::move(merged));
}

std::optional<DimExpr> scale_sum(DimExpr sum, int64_t factor) {
  if (factor == 0) return 0;
  std::vector<DimExpr> scaled;
  for (const DimExpr& term : terms_of(sum)) {
    const TermView t = view_term(term);
    int64_t coefficient;
    if (__builtin_mul_overflow(t.coefficient, factor, &coefficient) || coefficient == INT64_MIN ||
        has_division(t.factors))
      return std::nullopt;
    scaled.push_back(from_term({t.factors.begin(), t.factors.end()}, coefficient));
  }
  return from_terms(std::move(scaled));
}

namespace {

// The positions of min(x, y) and max(x, y) among the factors, whose product is x * y: dims that
// broadcast have this form. Empty if x * y could have many terms.
std::optional<std::pair<size_t, size_t>> find_extrema(const Monomial& factors) {
  constexpr size_t kMostTerms = 16;
  for (size_t i = 0; i < factors.size(); ++i)
    for (size_t j = 0; j < factors.size(); ++j)
      if (factors[i].kind() == Kind::kMin && factors[j].kind() == Kind::kMax &&
          factors[i].operands().size() == 2 &&
          std::ranges::equal(factors[i].operands(), factors[j].operands()) &&
          terms_of(factors[i].operands()[0]).size() * terms_of(factors[i].operands()[1]).size() <=
              kMostTerms)
        return std::pair(i, j);
  return std::nullopt;
}

// Adds coefficient * the product of the factors to `to`.
bool add_product(Polynomial& to, const Monomial& factors, int64_t coefficient) {
  const auto extrema = find_extrema(factors);
  if (!extrema) return add_term(to, factors, coefficient);
  Monomial others;
  for (size_t i = 0; i < factors.size(); ++i)
    if (i != extrema->first && i != extrema->second) others.push_back(factors[i]);
  std::optional<Polynomial> product = Polynomial{{others, coefficient}};
  for (const DimExpr operand : factors[extrema->first].operands())
    if (product) product = multiply(*product, to_polynomial(operand));
  return product && std::ranges::all_of(*product, [&](const auto& term) {
           return add_term(to, term.first, term.second);
         });
}

}  // namespace

std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [ma, ca] : a)
    for (const auto& [mb, cb] : b) {
      Monomial monomial;
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(), std::back_inserter(monomial));
      int64_t coefficient;
      if (__builtin_mul_overflow(ca, cb, &coefficient) || coefficient == INT64_MIN ||
          !add_product(result, monomial, coefficient))
        return std::nullopt;
    }
  return result;
}

std::optional<Division> divide(Polynomial a, const Polynomial& b) {
  constexpr int kMaxSteps = 64;  // each step cancels one term; expressions are small
  Division division;
  // Division of multivariate polynomials in graded lexicographic order (Cox, Little, O'Shea,
  // "Ideals, Varieties, and Algorithms", section 2.3). A leading term that the divisor's leading
  // term does not divide moves to the remainder.
  auto lead = leading(b);
  for (int step = 0; step < kMaxSteps && !a.empty(); ++step) {
    auto term = leading(a);
    std::optional<Monomial> monomial = divide(term->first, lead->first);
    if (!monomial || term->second % lead->second != 0) {
      if (!add_term(division.remainder, term->first, term->second)) return std::nullopt;
      a.erase(term);
      continue;
    }
    Polynomial factor{{*monomial, term->second / lead->second}};
    if (!add_term(division.quotient, *monomial, factor.begin()->second)) return std::nullopt;
    std::optional<Polynomial> product = multiply(factor, b);
    if (!product) return std::nullopt;
    for (const auto& [m, c] : *product)
      if (!add_term(a, m, -c)) return std::nullopt;
  }
  if (!a.empty()) return std::nullopt;
  return division;
}

Division split_by_constant(const Polynomial& a, int64_t d) {
  Division division;
  for (const auto& [monomial, coefficient] : a) {
    bool is_constant = monomial.empty();
    // The constant's remainder is in [0, d). Other coefficients are truncated, so that -n stays -n
    // instead of n*(d-1) - d*n.
    int64_t q = is_constant ? floor_divide(coefficient, d) : coefficient / d;
    int64_t r = is_constant ? floor_modulo(coefficient, d) : coefficient % d;
    if (q != 0) division.quotient[monomial] = q;
    if (r != 0) division.remainder[monomial] = r;
  }
  return division;
}

int64_t common_divisor(const Polynomial& p, int64_t with) {
  for (const auto& [monomial, coefficient] : p) with = std::gcd(with, coefficient);
  return with;
}

}  // namespace scopevm::compiler::dims

// Interning, normal form and arithmetic of dimension expressions.
//
// The normal form is a polynomial: a map from monomials (sorted lists of atoms) to coefficients.
// Every operation goes through it and back, so that equal polynomials meet in one interned node.
//   dim_parse.cpp   text -> expression
#include "compiler/shapes/dim_expr.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <unordered_map>

namespace scopevm {

struct DimExpr::Node {
  Kind kind;
  int64_t value = 0;              // kConstant
  std::string name;               // kSymbol
  std::vector<DimExpr> operands;  // the other kinds
  size_t hash = 0;
};

struct DimInterner {
  static DimExpr intern(DimExpr::Node node) {
    static DimInterner* interner = new DimInterner;  // lives as long as the process
    node.hash = hash(node);
    std::lock_guard<std::mutex> lock(interner->mutex_);
    auto [begin, end] = interner->nodes_.equal_range(node.hash);
    for (auto it = begin; it != end; ++it)
      if (equal(*it->second, node)) return DimExpr(it->second.get());
    size_t key = node.hash;
    auto added = interner->nodes_.emplace(key, std::make_unique<DimExpr::Node>(std::move(node)));
    return DimExpr(added->second.get());
  }
  static const DimExpr::Node* node(DimExpr e) { return e.node_; }

 private:
  static size_t hash(const DimExpr::Node& node) {
    size_t h = static_cast<size_t>(node.kind) * 0x9E3779B97F4A7C15u;
    auto mix = [&](size_t v) { h = (h ^ v) * 0xD6E8FEB86659FD93u + (h >> 29); };
    mix(static_cast<size_t>(node.value));
    mix(std::hash<std::string>()(node.name));
    for (DimExpr operand : node.operands) mix(operand.node_->hash);
    return h;
  }
  static bool equal(const DimExpr::Node& a, const DimExpr::Node& b) {
    return a.kind == b.kind && a.value == b.value && a.name == b.name && a.operands == b.operands;
  }

  std::mutex mutex_;
  std::unordered_multimap<size_t, std::unique_ptr<DimExpr::Node>> nodes_;
};

namespace {

using Kind = DimExpr::Kind;
using Monomial = std::vector<DimExpr>;           // atoms in order; empty for the constant term
using Polynomial = std::map<Monomial, int64_t>;  // no zero coefficients

DimExpr make(Kind kind, std::vector<DimExpr> operands) {
  return DimInterner::intern({kind, 0, {}, std::move(operands)});
}

// Adds coefficient * monomial. False on overflow.
bool add_term(Polynomial& to, const Monomial& monomial, int64_t coefficient) {
  int64_t& sum = to[monomial];
  if (__builtin_add_overflow(sum, coefficient, &sum)) return false;
  if (sum == 0) to.erase(monomial);
  return true;
}

void read_term(DimExpr e, Monomial& monomial, int64_t& coefficient) {
  coefficient = 1;
  if (e.is_constant()) {
    coefficient = *e.as_constant();
  } else if (e.kind() == Kind::kMul) {
    for (DimExpr factor : e.operands()) {
      if (auto constant = factor.as_constant())
        coefficient = *constant;
      else
        monomial.push_back(factor);
    }
  } else {
    monomial.push_back(e);
  }
}

Polynomial to_polynomial(DimExpr e) {
  Polynomial result;
  auto add = [&](DimExpr term) {
    Monomial monomial;
    int64_t coefficient;
    read_term(term, monomial, coefficient);
    if (coefficient != 0) result[monomial] = coefficient;
  };
  if (e.kind() == Kind::kAdd)
    for (DimExpr term : e.operands()) add(term);
  else
    add(e);
  return result;
}

DimExpr from_term(const Monomial& monomial, int64_t coefficient) {
  if (monomial.empty()) return coefficient;
  if (coefficient == 1 && monomial.size() == 1) return monomial.front();
  std::vector<DimExpr> factors;
  if (coefficient != 1) factors.push_back(coefficient);
  factors.insert(factors.end(), monomial.begin(), monomial.end());
  return make(Kind::kMul, std::move(factors));
}

// Terms of higher degree first, the constant last: `n*m+2*n+1`.
DimExpr from_polynomial(const Polynomial& polynomial) {
  std::vector<std::pair<Monomial, int64_t>> terms(polynomial.begin(), polynomial.end());
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a.first < b.first;
  });
  if (terms.empty()) return 0;
  if (terms.size() == 1) return from_term(terms[0].first, terms[0].second);
  std::vector<DimExpr> operands;
  for (const auto& [monomial, coefficient] : terms)
    operands.push_back(from_term(monomial, coefficient));
  return make(Kind::kAdd, std::move(operands));
}

std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [ma, ca] : a)
    for (const auto& [mb, cb] : b) {
      Monomial monomial;
      std::merge(ma.begin(), ma.end(), mb.begin(), mb.end(), std::back_inserter(monomial));
      int64_t coefficient;
      if (__builtin_mul_overflow(ca, cb, &coefficient) || !add_term(result, monomial, coefficient))
        return std::nullopt;
    }
  return result;
}

// monomial / divisor when every factor of the divisor is in it.
std::optional<Monomial> divide(const Monomial& monomial, const Monomial& divisor) {
  if (!std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end()))
    return std::nullopt;
  Monomial quotient;
  std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                      std::back_inserter(quotient));
  return quotient;
}

// By degree, then by order: the leading term is the greatest.
bool is_less(const Monomial& a, const Monomial& b) {
  return a.size() != b.size() ? a.size() < b.size() : b < a;
}

Polynomial::const_iterator leading(const Polynomial& p) {
  auto best = p.begin();
  for (auto it = p.begin(); it != p.end(); ++it)
    if (is_less(best->first, it->first)) best = it;
  return best;
}

// a = quotient * b + remainder, dividing terms by b's leading term while that is exact.
struct Division {
  Polynomial quotient;
  Polynomial remainder;
};
std::optional<Division> divide(Polynomial a, const Polynomial& b) {
  constexpr int kMaxSteps = 64;  // each step cancels a term; expressions are small
  Division division;
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
      if (c == INT64_MIN || !add_term(a, m, -c)) return std::nullopt;
  }
  if (!a.empty()) return std::nullopt;
  return division;
}

int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

// The common divisor of all coefficients and of `with`.
int64_t common_divisor(const Polynomial& p, int64_t with) {
  for (const auto& [monomial, coefficient] : p) with = std::gcd(with, coefficient);
  return with;
}

// Splits a into q*d + r, with what d divides in q; then floor(a/d) = q + floor(r/d).
Division split_by_constant(const Polynomial& a, int64_t d) {
  Division division;
  for (const auto& [monomial, coefficient] : a) {
    int64_t q = floor_divide(coefficient, d);
    bool exact = coefficient % d == 0;
    if (monomial.empty() || exact) {
      if (q != 0) division.quotient[monomial] = q;
      if (!exact) division.remainder[monomial] = coefficient - q * d;
    } else {
      division.remainder[monomial] = coefficient;
    }
  }
  return division;
}

DimExpr floordiv_by_constant(DimExpr a, int64_t d) {
  if (d == 1) return a;
  Division division = split_by_constant(to_polynomial(a), d);
  DimExpr quotient = from_polynomial(division.quotient);
  Polynomial& rest = division.remainder;
  // What is left is a constant in [0, d), or has terms that d does not divide.
  if (rest.empty() || (rest.size() == 1 && rest.begin()->first.empty())) return quotient;
  // floor((g*p + c) / (g*e)) = floor((p + floor(c/g)) / e).
  int64_t constant = 0;
  if (auto it = rest.find({}); it != rest.end()) {
    constant = it->second;
    rest.erase(it);
  }
  int64_t g = common_divisor(rest, d);
  for (auto& [monomial, coefficient] : rest) coefficient /= g;
  constant = floor_divide(constant, g);
  d /= g;
  if (constant != 0) rest[{}] = constant;
  DimExpr inner = from_polynomial(rest);
  if (d == 1) return quotient + inner;
  // floor(floor(x / e) / d) = floor(x / (e*d)).
  int64_t product;
  if (inner.kind() == Kind::kFloorDiv && inner.operands()[1].is_constant() &&
      !__builtin_mul_overflow(*inner.operands()[1].as_constant(), d, &product) && product > 0)
    return quotient + floordiv(inner.operands()[0], product);
  return quotient + make(Kind::kFloorDiv, {inner, d});
}

// Proves a >= b: their difference has no negative coefficient, and symbols are dimensions.
bool is_at_least(DimExpr a, DimExpr b) {
  for (const auto& [monomial, coefficient] : to_polynomial(a - b)) {
    if (coefficient < 0) return false;
    for (DimExpr atom : monomial)
      if (atom.kind() != Kind::kSymbol) return false;
  }
  return true;
}

// min or max: flattened, terms that another one dominates dropped.
DimExpr extremum(Kind kind, DimExpr a, DimExpr b) {
  std::vector<DimExpr> kept;
  auto wins = [&](DimExpr x, DimExpr y) {
    return kind == Kind::kMax ? is_at_least(x, y) : is_at_least(y, x);
  };
  auto add = [&](DimExpr term) {
    for (DimExpr other : kept)
      if (wins(other, term)) return;
    std::erase_if(kept, [&](DimExpr other) { return wins(term, other); });
    kept.push_back(term);
  };
  for (DimExpr e : {a, b}) {
    if (e.kind() != kind) {
      add(e);
      continue;
    }
    for (DimExpr operand : e.operands()) add(operand);
  }
  std::sort(kept.begin(), kept.end());
  return kept.size() == 1 ? kept.front() : make(kind, std::move(kept));
}

std::optional<int64_t> evaluate_operands(
    DimExpr e, const std::function<std::optional<int64_t>(DimExpr)>& value) {
  std::optional<int64_t> result;
  for (DimExpr operand : e.operands()) {
    std::optional<int64_t> b = value(operand);
    if (!b) return std::nullopt;
    if (!result) {
      result = b;
      continue;
    }
    int64_t a = *result, out = 0;
    switch (e.kind()) {
      case Kind::kAdd:
        if (__builtin_add_overflow(a, *b, &out)) return std::nullopt;
        break;
      case Kind::kMul:
        if (__builtin_mul_overflow(a, *b, &out)) return std::nullopt;
        break;
      case Kind::kFloorDiv:
      case Kind::kMod:
        if (*b <= 0) return std::nullopt;
        out = e.kind() == Kind::kFloorDiv ? floor_divide(a, *b) : a - floor_divide(a, *b) * *b;
        break;
      case Kind::kMin:
        out = std::min(a, *b);
        break;
      default:
        out = std::max(a, *b);
        break;
    }
    result = out;
  }
  return result;
}

DimExpr combine(Kind kind, DimExpr a, DimExpr b) {
  switch (kind) {
    case Kind::kAdd:
      return a + b;
    case Kind::kMul:
      return a * b;
    case Kind::kFloorDiv:
      return floordiv(a, b);
    case Kind::kMod:
      return mod(a, b);
    case Kind::kMin:
      return min(a, b);
    default:
      return max(a, b);
  }
}

// "+n", "-2*n": a term of a sum behind the first.
std::string signed_str(DimExpr term) {
  std::string text = term.str();
  return text.front() == '-' ? text : "+" + text;
}

std::string str_of_product(DimExpr e) {
  std::string text;
  for (DimExpr factor : e.operands()) {
    if (factor.is_constant(-1)) {
      text = "-";
      continue;
    }
    bool needs_parentheses = factor.kind() == Kind::kAdd;
    if (!text.empty() && text != "-") text += "*";
    text += needs_parentheses ? "(" + factor.str() + ")" : factor.str();
  }
  return text;
}

}  // namespace

DimExpr::DimExpr() : DimExpr(int64_t{0}) {}
DimExpr::DimExpr(int64_t value)
    : node_(DimInterner::intern({Kind::kConstant, value, {}, {}}).node_) {}

DimExpr DimExpr::symbol(std::string_view name) {
  return DimInterner::intern({Kind::kSymbol, 0, std::string(name), {}});
}

DimExpr::Kind DimExpr::kind() const { return node_->kind; }
std::span<const DimExpr> DimExpr::operands() const { return node_->operands; }
std::string_view DimExpr::symbol_name() const { return node_->name; }
std::optional<int64_t> DimExpr::as_constant() const {
  return node_->kind == Kind::kConstant ? std::optional(node_->value) : std::nullopt;
}
size_t hash_value(DimExpr e) { return e.node_->hash; }

bool operator<(DimExpr a, DimExpr b) {
  if (a == b) return false;
  const DimExpr::Node &x = *a.node_, &y = *b.node_;
  if (x.kind != y.kind) return x.kind < y.kind;
  if (x.value != y.value) return x.value < y.value;
  if (x.name != y.name) return x.name < y.name;
  return std::lexicographical_compare(x.operands.begin(), x.operands.end(), y.operands.begin(),
                                      y.operands.end());
}

DimExpr operator+(DimExpr a, DimExpr b) {
  Polynomial sum = to_polynomial(a);
  for (const auto& [monomial, coefficient] : to_polynomial(b))
    if (!add_term(sum, monomial, coefficient)) return make(Kind::kAdd, {a, b});
  return from_polynomial(sum);
}

DimExpr operator*(DimExpr a, DimExpr b) {
  std::optional<Polynomial> product = multiply(to_polynomial(a), to_polynomial(b));
  return product ? from_polynomial(*product) : make(Kind::kMul, {a, b});
}

DimExpr operator-(DimExpr a, DimExpr b) { return a + b * DimExpr(-1); }

DimExpr floordiv(DimExpr a, DimExpr b) {
  if (auto d = b.as_constant()) {
    if (*d > 0) return floordiv_by_constant(a, *d);
    return make(Kind::kFloorDiv, {a, b});
  }
  if (a.is_constant(0)) return 0;
  std::optional<Division> division = divide(to_polynomial(a), to_polynomial(b));
  if (!division) return make(Kind::kFloorDiv, {a, b});
  DimExpr quotient = from_polynomial(division->quotient);
  if (division->remainder.empty()) return quotient;
  return quotient + make(Kind::kFloorDiv, {from_polynomial(division->remainder), b});
}

DimExpr mod(DimExpr a, DimExpr b) {
  if (auto d = b.as_constant(); d && *d > 0) {
    // Multiples of d fall away.
    Polynomial rest = split_by_constant(to_polynomial(a), *d).remainder;
    DimExpr left = from_polynomial(rest);
    if (left.is_constant() || *d == 1) return *d == 1 ? DimExpr(0) : left;
    return make(Kind::kMod, {left, b});
  }
  if (a.is_constant(0)) return 0;
  if (!b.is_constant()) {
    std::optional<Division> division = divide(to_polynomial(a), to_polynomial(b));
    if (division && division->remainder.empty()) return 0;
  }
  return make(Kind::kMod, {a, b});
}

DimExpr ceildiv(DimExpr a, DimExpr b) { return floordiv(a + b - DimExpr(1), b); }
DimExpr min(DimExpr a, DimExpr b) { return extremum(Kind::kMin, a, b); }
DimExpr max(DimExpr a, DimExpr b) { return extremum(Kind::kMax, a, b); }
DimExpr round_up(DimExpr a, int64_t alignment) {
  return ceildiv(a, alignment) * DimExpr(alignment);
}

DimExpr element_count(std::span<const DimExpr> dims) {
  DimExpr count = 1;
  for (DimExpr dim : dims) count = count * dim;
  return count;
}

std::string DimExpr::str() const {
  switch (node_->kind) {
    case Kind::kConstant:
      return std::to_string(node_->value);
    case Kind::kSymbol:
      return node_->name;
    case Kind::kMul:
      return str_of_product(*this);
    case Kind::kAdd: {
      std::string text = operands().front().str();
      for (DimExpr term : operands().subspan(1)) text += signed_str(term);
      return text;
    }
    default: {
      constexpr const char* kNames[] = {"", "", "", "", "floordiv", "mod", "min", "max"};
      std::string text = kNames[static_cast<int>(node_->kind)];
      text += "(";
      for (DimExpr operand : operands())
        text += (operand == operands().front() ? "" : ", ") + operand.str();
      return text + ")";
    }
  }
}

std::vector<std::string> DimExpr::symbols() const {
  std::set<std::string> names;
  std::function<void(DimExpr)> visit = [&](DimExpr e) {
    if (e.kind() == Kind::kSymbol) names.emplace(e.symbol_name());
    for (DimExpr operand : e.operands()) visit(operand);
  };
  visit(*this);
  return {names.begin(), names.end()};
}

std::optional<int64_t> DimExpr::evaluate(
    const std::function<std::optional<int64_t>(std::string_view)>& value_of) const {
  if (kind() == Kind::kConstant) return node_->value;
  if (kind() == Kind::kSymbol) return value_of(node_->name);
  return evaluate_operands(*this, [&](DimExpr e) { return e.evaluate(value_of); });
}

DimExpr DimExpr::substitute(
    const std::function<std::optional<DimExpr>(std::string_view)>& with) const {
  if (kind() == Kind::kConstant) return *this;
  if (kind() == Kind::kSymbol) return with(node_->name).value_or(*this);
  std::optional<DimExpr> result;
  for (DimExpr operand : operands()) {
    DimExpr replaced = operand.substitute(with);
    result = result ? combine(kind(), *result, replaced) : replaced;
  }
  return *result;
}

}  // namespace scopevm

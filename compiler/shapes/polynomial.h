// Normal form of dimension expressions: a polynomial over atoms, and its arithmetic. Private to
// compiler/shapes.
//
// Nothing here wraps around: a coefficient that leaves 64 bits, or a product that would be too
// large, gives no polynomial. The expression is then built as an opaque node: an atom of its own,
// which evaluates operation by operation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler::dims {

using Monomial = std::vector<DimExpr>;           // atoms in order; empty for the constant term
using Polynomial = std::map<Monomial, int64_t>;  // no coefficient is 0 or INT64_MIN

// A node of any kind but kConstant and kSymbol, exactly as given.
DimExpr make(DimExpr::Kind kind, std::vector<DimExpr> operands, bool is_opaque = false);
bool is_opaque(DimExpr e);
// Nodes in the expression, counted as often as they occur.
size_t tree_size(DimExpr e);

Polynomial to_polynomial(DimExpr e);
DimExpr from_polynomial(Polynomial polynomial);

// Adds coefficient * monomial. False on overflow; `to` is then unspecified.
bool add_term(Polynomial& to, const Monomial& monomial, int64_t coefficient);
std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b);

// a = quotient * b + remainder.
struct Division {
  Polynomial quotient;
  Polynomial remainder;
};
// Divides terms by b's leading term while that is exact; the rest remains.
std::optional<Division> divide(Polynomial a, const Polynomial& b);
// Coefficients become their remainders, of their own sign; the constant's is in [0, d).
// REQUIRES: d > 0.
Division split_by_constant(const Polynomial& a, int64_t d);

// The common divisor of all coefficients and of `with`.
int64_t common_divisor(const Polynomial& p, int64_t with);

// Rounds towards minus infinity. REQUIRES: b > 0.
constexpr int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t floor_modulo(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

}  // namespace scopevm::compiler::dims

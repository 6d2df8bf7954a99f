// The normal form of dimension expressions, a polynomial over atoms, and its arithmetic. Private to
// compiler/dims.
//
// Arithmetic never wraps. If a coefficient overflows 64 bits, the operation returns no polynomial.
// The expression is then built as an opaque node: an atom that is evaluated operation by operation.
// A product that would have too many nodes is also built as an opaque node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "compiler/dims/dim_expr.h"

namespace scopevm::compiler::dims {

using Monomial = std::vector<DimExpr>;  // atoms in canonical order; empty for the constant term
using Polynomial = std::map<Monomial, int64_t>;  // coefficients are never 0 or INT64_MIN

// A node of any kind except kConstant and kSymbol, without normalisation.
DimExpr make(DimExpr::Kind kind, std::vector<DimExpr> operands, bool is_opaque = false);
bool is_opaque(DimExpr e);
// The number of nodes in the expression; a shared node counts once per use.
size_t tree_size(DimExpr e);
// The result of `prove` for e. It is computed once and stored with e's node, because the same types
// are inferred again after every pass.
bool remember_sign(DimExpr e, const std::function<bool()>& prove);

// Conversions between expressions and their normal form.
Polynomial to_polynomial(DimExpr e);
DimExpr from_polynomial(Polynomial polynomial);

// a + b and factor * sum by one pass over their terms, which are sorted. Empty if a coefficient
// overflows or a term with a changed coefficient may need from_polynomial()'s simplification.
// REQUIRES: factor is not INT64_MIN.
std::optional<DimExpr> merge_sums(DimExpr a, DimExpr b);
std::optional<DimExpr> scale_sum(DimExpr sum, int64_t factor);

// Adds coefficient * monomial to `to`. Returns false and leaves `to` unspecified if the sum
// overflows or is INT64_MIN.
bool add_term(Polynomial& to, const Monomial& monomial, int64_t coefficient);
std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b);

// a = quotient * b + remainder.
struct Division {
  Polynomial quotient;
  Polynomial remainder;
};
// Divides each term by b's leading term if that division is exact; the other terms are the
// remainder. Empty on overflow and after too many steps. REQUIRES: b is not 0.
std::optional<Division> divide(Polynomial a, const Polynomial& b);
// Splits each coefficient by d. The remainders of non-constant terms have the sign of their
// coefficient; the constant's remainder is in [0, d). REQUIRES: d > 0.
Division split_by_constant(const Polynomial& a, int64_t d);

// The greatest common divisor of all coefficients and `with`.
int64_t common_divisor(const Polynomial& p, int64_t with);

using format::floor_divide;
using format::floor_modulo;

}  // namespace scopevm::compiler::dims

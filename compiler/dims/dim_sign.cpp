// Proves that expressions are non-negative.
//
// A sum of non-negative terms is non-negative. So is a sum that becomes non-negative when a min or
// max in it is replaced by its operands. `+min(a, b)` equals a or b, so both replacements must be
// proved. `-min(a, b)` is at least -a and at least -b, so one proof suffices. For max the rules are
// exchanged. For example, `n - min(512, n+m) + min(512, m)` is proved in two cases. If the second
// min is 512, the first is replaced by 512. If the second min is m, the first is replaced by n+m.
//
// floordiv(x, d) is between (x - d + 1)/d and x/d, and an integer that is greater than -1 is not
// negative. This proves `2*floordiv(n+31, 32) - floordiv(n+15, 16)`, the difference of the
// sizes of an image that was halved five times and enlarged, and of one that was halved four times.
//
// Facts about symbols are used in two ways. A symbol with minimum k is replaced by k plus a symbol
// with minimum 0, so `n*m - n` is proved with m+1 for m. A sum is proved if its interval has no
// negative value, so `512 - n` is proved for n at most 512.
#include <algorithm>
#include <numeric>

#include "compiler/dims/polynomial.h"

namespace scopevm::compiler {
namespace {

using dims::Monomial;
using dims::Polynomial;
using Kind = DimExpr::Kind;

class Prover {
 public:
  bool prove(DimExpr e) {
    // Each rule below visits the tree a constant number of times, in addition to its calls of
    // prove().
    const size_t size = dims::tree_size(e);
    if (size > work_left_) return false;
    work_left_ -= size;
    switch (e.kind()) {
      case Kind::kConstant:
        return *e.as_constant() >= 0;
      // Symbols are dims, or parts of run-time values, which are non-negative by construction.
      // mod() is non-negative, because its evaluation fails for a divisor below 1.
      case Kind::kSymbol:
      case Kind::kMod:
        return true;
      case Kind::kMin:
        return all(e);
      case Kind::kMax:
        return std::ranges::any_of(e.operands(), [&](DimExpr o) { return prove(o); });
      case Kind::kFloorDiv: {
        // Evaluation fails for a divisor below 1, so b-1 can be assumed to be non-negative.
        DimExpr a = e.operands()[0], b = e.operands()[1];
        return prove(a) || (!b.is_constant() && prove(a - b + DimExpr(1)));
      }
      case Kind::kAdd:
      case Kind::kMul:
        if (all(e) || interval_of(e).min >= 0) return true;
        // An opaque node has no normal form, so the steps below do not apply to it.
        if (dims::is_opaque(e)) return false;
        if (prove_by_floors(e)) return true;
        DimExpr from_zero = without_minima(e);
        return from_zero != e ? prove(from_zero) : prove_by_cases(e);
    }
    return false;
  }

 private:
  // Rewrites symbols as their minimum plus a symbol with minimum 0. Only factors of terms are
  // rewritten, not symbols inside floordiv and other atoms.
  static DimExpr without_minima(DimExpr e) {
    DimExpr sum = 0;
    for (const auto& [monomial, coefficient] : dims::to_polynomial(e)) {
      DimExpr term = coefficient;
      for (DimExpr atom : monomial) term = term * without_minimum(atom);
      sum = sum + term;
    }
    return sum;
  }
  static DimExpr without_minimum(DimExpr atom) {
    if (atom.kind() != Kind::kSymbol || atom.facts().min <= 0) return atom;
    int64_t min = atom.facts().min, max = atom.facts().max;
    // Symbols are compared with their facts, so the new symbol differs from the old one, which may
    // remain inside atoms. A proof that treats both as independent holds for all values of either.
    return DimExpr::symbol(atom.symbol_name(), {0, max == INT64_MAX ? max : max - min, 1}) + min;
  }

  bool all(DimExpr e) {
    return std::ranges::all_of(e.operands(), [&](DimExpr o) { return prove(o); });
  }

  // The divisor if the term is a multiple of one floordiv by a constant; else 0.
  static int64_t divisor_of(const Monomial& monomial) {
    if (monomial.size() != 1 || monomial.front().kind() != Kind::kFloorDiv) return 0;
    return std::max<int64_t>(monomial.front().operands()[1].as_constant().value_or(0), 0);
  }

  // Replaces the floordivs of negative terms by their upper bounds; if that is not sufficient, also
  // those of positive terms by their lower bounds.
  bool prove_by_floors(DimExpr e) {
    constexpr int64_t kLargestScale = int64_t{1} << 20;
    const Polynomial terms = dims::to_polynomial(e);
    int64_t scale = 1;
    bool has_negative = false, has_positive = false;
    for (const auto& [monomial, coefficient] : terms) {
      const int64_t d = divisor_of(monomial);
      if (d == 0) continue;
      if (d > kLargestScale) return false;
      scale = std::lcm(scale, d);
      if (scale > kLargestScale) return false;
      (coefficient < 0 ? has_negative : has_positive) = true;
    }
    const auto prove_scaled = [&](bool replaces_positive) {
      // A multiple of g is not negative if it is greater than -g.
      DimExpr sum = DimExpr(scale) * DimExpr(known_factor(e)) - DimExpr(1);
      for (const auto& [monomial, coefficient] : terms) {
        const int64_t d = divisor_of(monomial);
        DimExpr term = DimExpr(coefficient) * DimExpr(scale);
        if (d == 0 || (coefficient > 0 && !replaces_positive)) {
          for (DimExpr atom : monomial) term = term * atom;
        } else {
          const DimExpr x = monomial.front().operands()[0];
          term = DimExpr(coefficient) * DimExpr(scale / d) *
                 (coefficient < 0 ? x : x - DimExpr(d - 1));
        }
        sum = sum + term;
      }
      return prove(sum);
    };
    return (has_negative && prove_scaled(false)) || (has_positive && prove_scaled(true));
  }

  // Replaces the min or max of one term by its operands. Terms whose operands must all be proved
  // come first, because the operand that suffices for another term may differ between cases.
  bool prove_by_cases(DimExpr e) { return prove_by_cases(e, true) || prove_by_cases(e, false); }

  bool prove_by_cases(DimExpr e, bool need_all) {
    for (const auto& [monomial, coefficient] : dims::to_polynomial(e))
      for (size_t i = 0; i < monomial.size(); ++i) {
        Kind kind = monomial[i].kind();
        if (kind != Kind::kMin && kind != Kind::kMax) continue;
        bool is_positive = coefficient > 0;
        if (((kind == Kind::kMin) == is_positive) != need_all) continue;
        if (--budget_ < 0) return false;
        DimExpr factor = coefficient;
        for (size_t k = 0; k < monomial.size(); ++k)
          if (k != i) factor = factor * monomial[k];
        // The rules hold for terms whose cofactor has the sign of the coefficient.
        if (!prove(is_positive ? factor : DimExpr(0) - factor)) continue;
        DimExpr rest = e - factor * monomial[i];
        auto holds = [&](DimExpr option) { return prove(rest + factor * option); };
        return need_all ? std::ranges::all_of(monomial[i].operands(), holds)
                        : std::ranges::any_of(monomial[i].operands(), holds);
      }
    return false;
  }

  // The number of cases doubles with every min and max; real shapes need a few.
  int budget_ = 32;
  // The number of nodes that one proof may visit. A proof by cases substitutes in large sums again
  // and again: without a bound, nested products of min and max take minutes.
  size_t work_left_ = size_t{1} << 16;
};

}  // namespace

// Larger expressions are not analysed: a shared operand is visited once per occurrence, so the time
// could be exponential.
bool is_never_negative(DimExpr e) {
  constexpr size_t kLargestTree = 4096;
  if (dims::tree_size(e) > kLargestTree) return false;
  return dims::remember_sign(e, [&] { return Prover().prove(e); });
}

}  // namespace scopevm::compiler

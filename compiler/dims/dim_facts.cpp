// Derives bounds and divisors of an expression from the facts about its symbols.
#include <algorithm>
#include <limits>
#include <numeric>

#include "compiler/dims/polynomial.h"

namespace scopevm::compiler {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
constexpr DimInterval kAnything{kLeast, kGreatest};
// Larger expressions are not analysed: a shared operand is visited once per occurrence, so the time
// could be exponential.
constexpr size_t kLargestTree = 4096;

int64_t saturate(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, kLeast, kGreatest));
}

DimInterval add(DimInterval a, DimInterval b) {
  // Saturation is sound: a value beyond 64 bits fails its evaluation.
  return {saturate(static_cast<__int128>(a.min) + b.min),
          saturate(static_cast<__int128>(a.max) + b.max)};
}

DimInterval multiply(DimInterval a, DimInterval b) {
  __int128 products[] = {static_cast<__int128>(a.min) * b.min, static_cast<__int128>(a.min) * b.max,
                         static_cast<__int128>(a.max) * b.min,
                         static_cast<__int128>(a.max) * b.max};
  return {saturate(*std::min_element(std::begin(products), std::end(products))),
          saturate(*std::max_element(std::begin(products), std::end(products)))};
}

DimInterval divide(DimInterval a, DimInterval b) {
  if (b.min < 1) return kAnything;
  // For divisors of at least 1, the quotient is monotonic in each operand, so the extremes are at
  // the corners. Which corner depends on the sign of the dividend.
  using dims::floor_divide;
  int64_t quotients[] = {floor_divide(a.min, b.min), floor_divide(a.min, b.max),
                         floor_divide(a.max, b.min), floor_divide(a.max, b.max)};
  return {*std::min_element(std::begin(quotients), std::end(quotients)),
          *std::max_element(std::begin(quotients), std::end(quotients))};
}

int64_t product_of_factors(DimExpr e) {
  int64_t product = 1;
  for (DimExpr operand : e.operands())
    if (__builtin_mul_overflow(product, known_factor(operand), &product)) return 1;
  return product;
}

}  // namespace

DimInterval apply(format::FormulaOp op, DimInterval a, DimInterval b) {
  switch (op) {
    case format::FormulaOp::kAdd:
      return add(a, b);
    case format::FormulaOp::kMul:
      return multiply(a, b);
    case format::FormulaOp::kFloorDiv:
      return divide(a, b);
    case format::FormulaOp::kMod:
      if (b.min < 1) return kAnything;
      // mod() is in [0, divisor), and never exceeds a non-negative dividend.
      return {0, a.min >= 0 ? std::min(a.max, b.max - 1) : b.max - 1};
    case format::FormulaOp::kMin:
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case format::FormulaOp::kMax:
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
  }
  return kAnything;
}

DimInterval interval_of(DimExpr e) {
  if (auto constant = e.as_constant()) return {*constant, *constant};
  if (e.kind() == DimExpr::Kind::kSymbol) return {e.facts().min, e.facts().max};
  if (dims::tree_size(e) > kLargestTree) return kAnything;
  DimInterval result = interval_of(e.operands().front());
  for (DimExpr operand : e.operands().subspan(1))
    result = apply(e.op(), result, interval_of(operand));
  return result;
}

int64_t known_factor(DimExpr e) {
  using Kind = DimExpr::Kind;
  if (auto constant = e.as_constant())
    return *constant == 0 || *constant == INT64_MIN ? 1 : std::abs(*constant);
  if (dims::tree_size(e) > kLargestTree) return 1;
  switch (e.kind()) {
    case Kind::kSymbol:
      return e.facts().multiple_of;
    case Kind::kMul:
      return product_of_factors(e);
    case Kind::kFloorDiv: {
      int64_t factor = known_factor(e.operands()[0]);
      std::optional<int64_t> d = e.operands()[1].as_constant();
      // Only an exact division keeps a factor: floordiv(8*n, 4) is 2*n, but floordiv(8*n, 3) can be
      // anything.
      return d && *d > 0 && factor % *d == 0 ? factor / *d : 1;
    }
    default: {
      // Sums, remainders, minima and maxima of multiples of g are multiples of g.
      int64_t factor = known_factor(e.operands().front());
      for (DimExpr operand : e.operands().subspan(1))
        factor = std::gcd(factor, known_factor(operand));
      return factor;
    }
  }
}

}  // namespace scopevm::compiler

// Interval arithmetic on dimension expressions; see dim_range.h.
#include "compiler/dims/dim_range.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/dims/polynomial.h"

namespace scopevm::compiler {
namespace {

using Kind = DimExpr::Kind;

class RangeFinder {
 public:
  explicit RangeFinder(const std::function<DimRange(std::string_view)>& of_symbol)
      : of_symbol_(of_symbol) {}

  DimRange of(DimExpr e) {
    if (e.is_constant()) return {e, e};
    if (const auto found = known_.find(e); found != known_.end()) return found->second;
    const DimRange range = compute(e);
    known_.emplace(e, range);
    return range;
  }

 private:
  DimRange compute(DimExpr e) {
    if (e.kind() == Kind::kSymbol) return of_symbol_(e.symbol_name());
    const auto operands = e.operands();
    DimExpr left = operands.front();
    DimRange range = of(left);
    for (DimExpr right : operands.subspan(1)) {
      range = combine(e.kind(), left, range, right, of(right));
      // Only products read the sign of the left operand.
      if (e.kind() == Kind::kMul) left = left * right;
    }
    return range;
  }

  static DimRange combine(Kind kind, DimExpr a, const DimRange& x, DimExpr b, const DimRange& y) {
    switch (kind) {
      case Kind::kAdd:
        return {x.least + y.least, x.most + y.most};
      case Kind::kMul:
        return product(a, x, b, y);
      case Kind::kFloorDiv:
        return quotient(x, y);
      case Kind::kMod:
        return remainder(x, y);
      default:
        return {extremum(kind, x.least, y.least), extremum(kind, x.most, y.most)};
    }
  }

  // min or max, without a search for operands that another operand dominates: the operands of `e`
  // are simplified already, and the search takes seconds for two maxima of 50 sums.
  static DimExpr extremum(Kind kind, DimExpr a, DimExpr b) {
    std::vector<DimExpr> operands;
    for (DimExpr e : {a, b}) {
      if (e.kind() == kind)
        operands.insert(operands.end(), e.operands().begin(), e.operands().end());
      else
        operands.push_back(e);
    }
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    return operands.size() == 1 ? operands.front() : dims::make(kind, std::move(operands));
  }

  static DimRange product(DimExpr a, const DimRange& x, DimExpr b, const DimRange& y) {
    if (a.is_constant()) return scaled(y, a);
    if (b.is_constant()) return scaled(x, b);
    if (is_never_negative(a) && is_never_negative(b)) return {x.least * y.least, x.most * y.most};
    const DimExpr low = x.least * y.least, high = x.most * y.most;
    const DimExpr left = x.least * y.most, right = x.most * y.least;
    return {min(min(low, high), min(left, right)), max(max(low, high), max(left, right))};
  }

  static DimRange scaled(const DimRange& range, DimExpr factor) {
    if (*factor.as_constant() >= 0) return {range.least * factor, range.most * factor};
    return {range.most * factor, range.least * factor};
  }

  // The sign of the dividend decides which divisor gives an end of the range.
  static DimRange quotient(const DimRange& x, const DimRange& y) {
    const DimExpr least = max(y.least, 1), most = max(y.most, 1);
    return {min(floordiv(x.least, least), floordiv(x.least, most)),
            max(floordiv(x.most, least), floordiv(x.most, most))};
  }

  // If both ends have the same quotient, the remainder grows with the dividend.
  static DimRange remainder(const DimRange& x, const DimRange& y) {
    const DimExpr divisor = max(y.most, 1);
    const DimExpr first = floordiv(x.least, divisor), last = floordiv(x.most, divisor);
    // 1 if the quotients or the divisors differ, else 0.
    const DimExpr differs = min(last - first + (y.most - y.least), 1);
    const DimExpr low = mod(x.least, divisor), high = mod(x.most, divisor);
    return {low - differs * low, high + differs * (divisor - 1 - high)};
  }

  const std::function<DimRange(std::string_view)>& of_symbol_;
  std::unordered_map<DimExpr, DimRange> known_;
};

}  // namespace

DimRange range_of(DimExpr e, const std::function<DimRange(std::string_view)>& of_symbol) {
  return RangeFinder(of_symbol).of(e);
}

}  // namespace scopevm::compiler

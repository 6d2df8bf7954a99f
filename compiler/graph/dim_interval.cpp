// Interval arithmetic over dimension expressions: see dim_interval.h.
#include "compiler/graph/dim_interval.h"

#include <algorithm>
#include <limits>

namespace scopevm::graph {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
constexpr DimInterval kAnything{kLeast, kGreatest};
constexpr DimInterval kDimension{1, int64_t{1} << 31};
// Symbols that are born during the call.
constexpr DimInterval kBorn{0, kGreatest};

int64_t saturate(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, kLeast, kGreatest));
}

DimInterval add(DimInterval a, DimInterval b) {
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

int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

DimInterval floor_divide(DimInterval a, DimInterval b) {
  if (b.min < 1) return kAnything;
  int64_t quotients[] = {floor_divide(a.min, b.min), floor_divide(a.min, b.max),
                         floor_divide(a.max, b.min), floor_divide(a.max, b.max)};
  return {*std::min_element(std::begin(quotients), std::end(quotients)),
          *std::max_element(std::begin(quotients), std::end(quotients))};
}

DimInterval combine(DimExpr::Kind kind, DimInterval a, DimInterval b) {
  switch (kind) {
    case DimExpr::Kind::kAdd:
      return add(a, b);
    case DimExpr::Kind::kMul:
      return multiply(a, b);
    case DimExpr::Kind::kFloorDiv:
      return floor_divide(a, b);
    case DimExpr::Kind::kMod:
      return b.min < 1 ? kAnything : DimInterval{0, b.max - 1};
    case DimExpr::Kind::kMin:
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case DimExpr::Kind::kMax:
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    default:
      return kAnything;
  }
}

}  // namespace

DimInterval DimIntervals::of(DimExpr e) const {
  if (auto constant = e.as_constant()) return {*constant, *constant};
  if (e.kind() == DimExpr::Kind::kSymbol) {
    auto found = symbols_.find(e.symbol_name());
    if (found != symbols_.end()) return found->second;
    return e.symbol_name().front() == '$' ? kBorn : kDimension;
  }
  DimInterval result = of(e.operands().front());
  for (DimExpr operand : e.operands().subspan(1)) result = combine(e.kind(), result, of(operand));
  return result;
}

DimExpr DimIntervals::smaller(DimExpr a, DimExpr b) const {
  DimInterval difference = of(b - a);
  if (difference.min >= 0) return a;
  if (difference.max <= 0) return b;
  return min(a, b);
}

DimExpr DimIntervals::greater(DimExpr a, DimExpr b) const {
  DimInterval difference = of(b - a);
  if (difference.min >= 0) return b;
  if (difference.max <= 0) return a;
  return max(a, b);
}

}  // namespace scopevm::graph

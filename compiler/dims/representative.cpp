// Representative values of dims within their facts.
#include "compiler/dims/representative.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace scopevm::compiler {
namespace {

// The expected size of a dim in a request, if nothing is known about it.
constexpr int64_t kUsualDim = 64;

double combined(DimExpr::Kind kind, double a, double b) {
  switch (kind) {
    case DimExpr::Kind::kAdd:
      return a + b;
    case DimExpr::Kind::kMul:
      return a * b;
    case DimExpr::Kind::kFloorDiv:
      return b > 0 ? std::floor(a / b) : 0;
    case DimExpr::Kind::kMod:
      return b > 0 ? a - b * std::floor(a / b) : 0;
    case DimExpr::Kind::kMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

// Expressions share operands, so each value is computed once.
using Values = std::unordered_map<DimExpr, double>;

double value_of(DimExpr e, const DimValues& known, Values& values) {
  if (auto constant = e.as_constant()) return static_cast<double>(*constant);
  if (e.kind() == DimExpr::Kind::kSymbol) {
    auto found = known.find(e.symbol_name());
    return found == known.end() ? static_cast<double>(representative(e.facts())) : found->second;
  }
  if (const auto done = values.find(e); done != values.end()) return done->second;
  double result = value_of(e.operands().front(), known, values);
  for (DimExpr operand : e.operands().subspan(1))
    result = combined(e.kind(), result, value_of(operand, known, values));
  return values[e] = result;
}

}  // namespace

int64_t representative(const DimFacts& facts) {
  const int64_t least = std::max<int64_t>(facts.min, 1);
  const int64_t near = std::clamp(kUsualDim, std::min(least, facts.max), facts.max);
  // In order of preference: the largest multiple up to `near`, the next multiple, 0, and `near`
  // itself if the range contains no multiple.
  const int64_t below = near - near % facts.multiple_of;
  if (below >= least) return below;
  if (facts.multiple_of <= facts.max - below) return below + facts.multiple_of;
  return below >= facts.min ? below : near;
}

double representative(DimExpr e, const DimValues& known) {
  Values values;
  const double value = value_of(e, known, values);
  // Doubles: products of representative dims may exceed 64 bits, and costs need no exact values.
  return std::isfinite(value) ? std::max(value, 0.0) : 0;
}

}  // namespace scopevm::compiler

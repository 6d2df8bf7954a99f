// Solves linear conditions for their dim; see dim_condition.h.
#include "compiler/import/ops/control/dim_condition.h"

#include <algorithm>
#include <utility>

#include "vm/format/schema/formula.h"

namespace scopevm::compiler::frontend {
namespace {

// coefficient * dim + offset. REQUIRES: the coefficient is not 0.
struct Linear {
  DimExpr dim;
  int64_t coefficient;
  int64_t offset;
};

std::optional<DimExpr> only_symbol(DimExpr e) {
  if (e.kind() == DimExpr::Kind::kSymbol) return e;
  std::optional<DimExpr> symbol;
  for (const DimExpr operand : e.operands()) {
    if (operand.is_constant()) continue;
    const std::optional<DimExpr> found = only_symbol(operand);
    if (!found || (symbol && *symbol != *found)) return std::nullopt;
    symbol = found;
  }
  return symbol;
}

std::optional<Linear> linear_form(DimExpr e) {
  const std::optional<DimExpr> dim = only_symbol(e);
  if (!dim || symbol_kind(dim->symbol_name()) != SymbolKind::kDimension) return std::nullopt;
  const auto at = [&](int64_t value) {
    return e.evaluate([=](std::string_view) { return std::optional(value); });
  };
  // Numbers beyond these are no bounds of dims. Below them, nothing overflows.
  constexpr int64_t kMost = int64_t{1} << 61;
  const std::optional<int64_t> zero = at(0), one = at(1);
  if (!zero || !one || *zero < -kMost || *zero > kMost || *one < -kMost || *one > kMost)
    return std::nullopt;
  const int64_t coefficient = *one - *zero;
  if (coefficient == 0 || e != *dim * DimExpr(coefficient) + DimExpr(*zero)) return std::nullopt;
  return Linear{*dim, coefficient, *zero};
}

using Range = std::pair<int64_t, int64_t>;  // empty if the first end exceeds the second

Range zeros_of(const Linear& e) {
  if (e.offset % e.coefficient != 0) return {1, 0};
  return {-e.offset / e.coefficient, -e.offset / e.coefficient};
}

// The values at which the form is at most 0.
Range at_most_zero(const Linear& e) {
  if (e.coefficient > 0) return {INT64_MIN, format::floor_divide(-e.offset, e.coefficient)};
  return {-format::floor_divide(-e.offset, -e.coefficient), INT64_MAX};
}

struct Comparison {
  mlir::Operation* op = nullptr;
  bool is_negated = false;
};

// The op that computes the condition, below negations and reshapes.
Comparison comparison_of(Value condition) {
  Comparison result{condition.getDefiningOp()};
  while (mlir::isa_and_nonnull<graph::LogicalNotOp, graph::ReshapeOp>(result.op)) {
    result.is_negated ^= mlir::isa<graph::LogicalNotOp>(result.op);
    result.op = result.op->getOperand(0).getDefiningOp();
  }
  return result;
}

// The values of the dim at which the comparison holds. No value for another op.
std::optional<std::pair<DimExpr, Range>> solve(mlir::Operation* op, DimExpr a, DimExpr b) {
  const bool is_swapped = mlir::isa<graph::GreaterOp, graph::GreaterEqualOp>(op);
  const bool is_strict = mlir::isa<graph::LessOp, graph::GreaterOp>(op);
  const bool is_equality = mlir::isa<graph::EqualOp>(op);
  const DimExpr difference = is_swapped ? b - a : a - b;
  const std::optional<Linear> form = linear_form(is_strict ? difference + DimExpr(1) : difference);
  if (!form) return std::nullopt;
  return std::pair(form->dim, is_equality ? zeros_of(*form) : at_most_zero(*form));
}

}  // namespace

std::optional<DimCondition> dim_condition(Node& n, Value condition) {
  const Comparison comparison = comparison_of(condition);
  if (!mlir::isa_and_nonnull<graph::EqualOp, graph::LessOp, graph::LessEqualOp, graph::GreaterOp,
                             graph::GreaterEqualOp>(comparison.op))
    return std::nullopt;
  llvm::SmallVector<DimExpr> sides;
  for (const Value operand : comparison.op->getOperands()) {
    const std::vector<DimExpr>* known = n.builder().known(operand);
    if (known == nullptr || known->size() != 1) return std::nullopt;
    sides.push_back(known->front());
  }
  const auto solved = solve(comparison.op, sides[0], sides[1]);
  if (!solved) return std::nullopt;
  const auto& [dim, range] = *solved;
  const DimFacts& facts = dim.facts();
  const int64_t step = facts.multiple_of;
  DimCondition result{std::string(dim.symbol_name()),
                      {.min = std::max(facts.min, range.first),
                       .max = std::min(facts.max, range.second),
                       .multiple_of = step},
                      !comparison.is_negated};
  result.range.max -= result.range.max % step;
  result.range.min = (*result.range.min + step - 1) / step * step;
  const bool is_all = result.range.min <= facts.min && result.range.max > facts.max - step;
  if (result.range.min > result.range.max || is_all) return std::nullopt;
  return result;
}

}  // namespace scopevm::compiler::frontend

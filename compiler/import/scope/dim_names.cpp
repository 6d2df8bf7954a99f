// Dim names -> expressions; see dim_names.h.
#include "compiler/import/scope/dim_names.h"

#include <algorithm>

namespace scopevm::compiler::frontend {

DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds) {
  auto found = bounds.find(name);
  DimBound bound = found == bounds.end() ? DimBound() : found->second;
  if (bound.min == bound.max) return bound.min;
  return DimExpr::symbol(name, {bound.min, bound.max, bound.multiple_of});
}

std::optional<DimExpr> dim_expression(const std::string& text, const std::set<std::string>& names,
                                      const std::function<DimExpr(const std::string&)>& dim) {
  std::optional<DimExpr> expression = DimExpr::parse(text);
  // A string such as "2*n" is an expression only if n is the name of an input dim. Otherwise it is
  // the name of a dim.
  if (!expression || expression->kind() == DimExpr::Kind::kSymbol) return std::nullopt;
  std::vector<std::string> symbols = expression->symbols();
  bool are_known = std::ranges::all_of(
      symbols, [&](const std::string& symbol) { return names.contains(symbol); });
  if (symbols.empty() || !are_known) return std::nullopt;
  return expression->substitute(
      [&](std::string_view symbol) { return std::optional(dim(std::string(symbol))); });
}

Status check_dim_names(const std::map<std::string, DimBound>& bounds,
                       const std::set<std::string>& names) {
  for (const auto& [name, bound] : bounds) {
    if (names.contains(name)) continue;
    std::string known;
    for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
    return Status(StatusCode::kInvalidArgument,
                  "unknown dimension \"" + name + "\"; " +
                      (known.empty() ? "all dimensions are constants" : "known: " + known));
  }
  return {};
}

}  // namespace scopevm::compiler::frontend

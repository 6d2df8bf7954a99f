// Names of dims -> expressions: see dim_names.h.
#include "compiler/frontend/dim_names.h"

namespace scopevm::frontend {

DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds) {
  auto found = bounds.find(name);
  DimBound bound = found == bounds.end() ? DimBound() : found->second;
  if (bound.min == bound.max) return bound.min;
  return DimExpr::symbol(name, {bound.min, bound.max, bound.multiple_of});
}

Status check_dim_names(const std::map<std::string, DimBound>& bounds,
                       const std::set<std::string>& names) {
  for (const auto& [name, bound] : bounds) {
    if (names.contains(name)) continue;
    std::string known;
    for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
    return Status(StatusCode::kInvalidArgument,
                  "there is no dimension \"" + name + "\"; " +
                      (known.empty() ? "all dimensions are numbers" : "there are " + known));
  }
  return {};
}

}  // namespace scopevm::frontend

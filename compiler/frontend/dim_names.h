// The dims of a function's inputs: symbols with what --dim says of them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/shapes/dim_expr.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// A dim of a request: its number where --dim fixes it, else a symbol with what is known of it.
DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds);

// A dim that an input declares as an expression, like "past + now", over names that are dims of
// inputs themselves; `dim` gives those. Empty for any other text: that is a name, however odd.
std::optional<DimExpr> dim_expression(const std::string& text, const std::set<std::string>& names,
                                      const std::function<DimExpr(const std::string&)>& dim);

// Errors: kInvalidArgument, where `bounds` names a dim that is not among `names`.
Status check_dim_names(const std::map<std::string, DimBound>& bounds,
                       const std::set<std::string>& names);

}  // namespace scopevm::compiler::frontend

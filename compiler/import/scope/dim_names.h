// The dims of a function's inputs: symbols with the bounds given by --dim.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/dims/dim_expr.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

// An input dim: a number if --dim fixes it, else a symbol with its known bounds.
DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds);

// Parses a dim that an input declares as an expression over the names of other input dims, such as
// "past + now". `dim` returns the dim of a name. Returns no value if `text` is not such an
// expression; `text` is then the name of a dim.
std::optional<DimExpr> dim_expression(const std::string& text, const std::set<std::string>& names,
                                      const std::function<DimExpr(const std::string&)>& dim);

// Errors: kInvalidArgument if `bounds` contains a dim that is not in `names`.
Status check_dim_names(const std::map<std::string, DimBound>& bounds,
                       const std::set<std::string>& names);

}  // namespace scopevm::compiler::frontend

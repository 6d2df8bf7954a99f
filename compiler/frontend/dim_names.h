// The dims of a function's inputs: symbols with what --dim says of them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/shapes/dim_expr.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::frontend {

// A dim of a request: its number where --dim fixes it, else a symbol with what is known of it.
DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds);

// Errors: kInvalidArgument, where `bounds` names a dim that is not among `names`.
Status check_dim_names(const std::map<std::string, DimBound>& bounds,
                       const std::set<std::string>& names);

}  // namespace scopevm::frontend

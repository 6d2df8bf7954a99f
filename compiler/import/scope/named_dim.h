// The dim of an input for its name.
#pragma once

#include <map>
#include <string>

#include "compiler/dims/dim_expr.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::frontend {

// A number or a formula if --dim has one, else a symbol with its known bounds.
DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds);

}  // namespace scopevm::compiler::frontend

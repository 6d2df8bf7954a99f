// Formats dimension expressions for messages, with a maximum length.
#pragma once

#include <string>

#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler {

// The expression, truncated to `longest` bytes. For an expression with too many nodes, a fixed text
// instead.
std::string short_text(DimExpr e, size_t longest = 80);

// `text` if it has at most `longest` bytes. Otherwise its first characters and "...", together at
// most `longest` bytes. REQUIRES: `longest` is at least 3.
std::string cut_text(std::string text, size_t longest);

}  // namespace scopevm::compiler

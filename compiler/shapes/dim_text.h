// Formats dimension expressions for messages, with a maximum length.
#pragma once

#include <string>

#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler {

// The expression, truncated to `longest` bytes. For an expression with too many nodes, a fixed text
// instead.
std::string short_text(DimExpr e, size_t longest = 80);

// `text` truncated to `longest` bytes at a character boundary, with "..." appended if truncated.
std::string cut_text(std::string text, size_t longest);

}  // namespace scopevm::compiler

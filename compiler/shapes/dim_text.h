// Dimension expressions in messages: as text that a person reads to the end.
#pragma once

#include <string>

#include "compiler/shapes/dim_expr.h"

namespace scopevm::compiler {

// The expression, cut after `longest` characters. Cheap also where the whole text would be huge.
std::string short_text(DimExpr e, size_t longest = 80);

// Text cut after `longest` bytes, between two characters, with "..." for the rest.
std::string cut_text(std::string text, size_t longest);

}  // namespace scopevm::compiler

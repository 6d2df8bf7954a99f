// Prints dimension expressions for readers: with a maximum length for messages, and as formulas
// with definitions for reports.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "scopevm/formula.h"

namespace scopevm::compiler {

// The expression, truncated to `longest` bytes. For an expression with too many nodes, a fixed text
// instead.
std::string short_text(DimExpr e, size_t longest = 80);

// `text` if it has at most `longest` bytes. Otherwise its first characters and "...", together at
// most `longest` bytes. REQUIRES: `longest` is at least 3.
std::string cut_text(std::string text, size_t longest);

struct FormulaText {
  std::vector<FormulaDefinition> definitions;
  std::vector<std::string> formulas;  // one per expression
};

// The length is linear in the number of distinct nodes of the expressions. If more than 1000
// definitions are needed, formulas that need definitions are replaced by a message, and there are
// no definitions.
FormulaText formula_text(std::span<const DimExpr> expressions);

}  // namespace scopevm::compiler

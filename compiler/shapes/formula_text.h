// Prints expressions as formulas for readers. An operand becomes a definition with a name if it
// makes a line too long. So does an operand that occurs more than once, unless it is short.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/shapes/dim_expr.h"
#include "scopevm/formula.h"

namespace scopevm::compiler {

struct FormulaText {
  std::vector<FormulaDefinition> definitions;
  std::vector<std::string> formulas;  // one per expression
};

// The length is linear in the number of distinct nodes of the expressions. If more than 1000
// definitions are needed, formulas that need definitions are replaced by a message, and there are
// no definitions.
FormulaText formula_text(std::span<const DimExpr> expressions);

}  // namespace scopevm::compiler

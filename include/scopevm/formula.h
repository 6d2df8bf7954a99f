// The formulas in which scopevm reports sizes.
//
// A formula is an integer expression over the names of dimensions, `$threads` (the session's
// threads) and the names of definitions: `+`, `-`, `*`, parentheses, and the functions max, min,
// floordiv, ceildiv and mod. floordiv rounds towards minus infinity, ceildiv towards plus infinity.
#pragma once

#include <string>

namespace scopevm {

/// Names a part of formulas. In a list of definitions, each formula uses earlier names only.
struct FormulaDefinition {
  std::string name;     ///< "A", ..., "Z", "A1", ...; never the name of a dimension
  std::string formula;  ///< "ceildiv(n, 12)"
};

}  // namespace scopevm

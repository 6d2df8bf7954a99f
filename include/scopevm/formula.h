// The formulas in which scopevm reports sizes.
//
// A formula is an integer expression over the names of dimensions, `$threads` (the number of
// threads of the session) and the names of definitions. A data-dependent size also contains
// runtime-defined symbols, whose names start with `$`. The expression consists of names, numbers,
// `+`, `-`, `*`, parentheses, and the functions max, min, floordiv, ceildiv and mod. floordiv
// rounds towards minus infinity, ceildiv towards plus infinity.
#pragma once

#include <string>

namespace scopevm {

/// A name for a common part of formulas. In a list of definitions, a formula can use the names that
/// earlier entries define, but not those of later entries.
struct FormulaDefinition {
  std::string name;     ///< "A", ..., "Z", "A1", ...; never the name of a dimension
  std::string formula;  ///< "ceildiv(n, 12)"
  bool operator==(const FormulaDefinition&) const = default;  ///< compares both members
};

}  // namespace scopevm

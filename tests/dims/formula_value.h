// Evaluates printed formulas with definitions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scopevm/formula.h"
#include "vm/format/schema/formula.h"

namespace scopevm {

// Empty if the formula or a definition that it uses cannot be evaluated, or a definition redefines
// a name.
inline std::optional<int64_t> formula_value(const std::vector<FormulaDefinition>& definitions,
                                            const std::string& formula,
                                            std::map<std::string, int64_t> values,
                                            int64_t threads = 1) {
  values["$threads"] = threads;
  for (const FormulaDefinition& definition : definitions) {
    const std::optional<int64_t> value = format::evaluate_formula(definition.formula, values);
    if (value && !values.emplace(definition.name, *value).second) return std::nullopt;
  }
  return format::evaluate_formula(formula, values);
}

}  // namespace scopevm

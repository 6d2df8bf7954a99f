// Prints the definitions of formulas, as text or JSON.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "scopevm/formula.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {

// Prints one line per definition: `prefix`, then for example `A = ceildiv(n, 12)`.
inline void print_definitions(std::string_view prefix,
                              const std::vector<FormulaDefinition>& definitions) {
  for (const FormulaDefinition& definition : definitions)
    print("{}{} = {}\n", prefix, definition.name, definition.formula);
}

inline nlohmann::ordered_json definitions_json(const std::vector<FormulaDefinition>& definitions) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const FormulaDefinition& definition : definitions)
    out.push_back({{"name", definition.name}, {"formula", definition.formula}});
  return out;
}

}  // namespace scopevm::tool

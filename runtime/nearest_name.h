// Suggestions for misspelt names in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::runtime {

// Whether the edit distance of the names is at most 1 or at most a third of the length of `given`.
bool are_similar(std::string_view given, std::string_view known);

// Returns "; did you mean \"x\"?" if a known name is similar to `given`. Otherwise returns
// "; there are \"x\", \"y\"" for a short list of known names, and "" for a long or empty one.
std::string name_suggestion(std::string_view given, const std::vector<std::string>& known);

// Returns the index of `name` in `known`, or kNotFound: the module has no `kind` "`name`".
Result<size_t> find_name(std::string_view kind, std::string_view name,
                         const std::vector<std::string>& known);

}  // namespace scopevm::runtime

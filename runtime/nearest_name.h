// Suggestions for misspelt names in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scopevm::runtime {

// Returns "; did you mean \"x\"?" if a known name is similar to `given` (edit distance at most a
// third of its length), else "; there are \"x\", \"y\"" if there are few known names, else "".
std::string name_suggestion(std::string_view given, const std::vector<std::string>& known);

}  // namespace scopevm::runtime

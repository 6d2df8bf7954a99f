// Suggestions for misspelt names in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scopevm::runtime {

// Returns "; did you mean \"x\"?" if a known name is similar to `given`. Names are similar if their
// edit distance is at most 1 or at most a third of the length of `given`. Otherwise returns
// "; there are \"x\", \"y\"" for a short list of known names, and "" for a long or empty one.
std::string name_suggestion(std::string_view given, const std::vector<std::string>& known);

}  // namespace scopevm::runtime

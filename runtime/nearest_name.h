// The name that somebody probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scopevm::runtime {

// "; did you mean \"x\"?" when one of `known` is near to `given` (a third of its letters or fewer
// differ), else "; there are \"x\", \"y\"" when they are few, else "".
std::string name_suggestion(std::string_view given, const std::vector<std::string>& known);

}  // namespace scopevm::runtime

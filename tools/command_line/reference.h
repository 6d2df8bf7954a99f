// Generates the man page and the shell completion of the command from its declared options.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>

namespace scopevm::tool {

// Returns the man page if `form` is "man", or the completion script of bash if it is "bash". The
// build runs `scopevm --reference FORM` to make the files that it installs. `parts` has the parts
// of the commands that other programs execute, which they return for "man-part" and "bash-part".
std::string reference(const CLI::App& app, std::string_view form,
                      const std::map<std::string, std::string>& parts);

}  // namespace scopevm::tool

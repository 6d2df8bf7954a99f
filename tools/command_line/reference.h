// Generates the man page and the shell completion of the command from its declared options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace scopevm::tool {

// Returns the man page if `form` is "man", else the completion script of bash. The build runs
// `scopevm --reference FORM` to make the files that it installs.
std::string reference(const CLI::App& app, std::string_view form);

}  // namespace scopevm::tool

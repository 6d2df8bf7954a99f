// Reads --external and --external-functions into compile options.
#pragma once

#include <string>
#include <vector>

#include "scopevm/compiler.h"

namespace scopevm::tool {

// Loads the external libraries, and reads the declarations of external functions from a file (an
// empty path: none). Errors: those of ExternalLibrary::load(), and kNotFound (no such file).
Status read_external(const std::vector<std::string>& libraries, const std::string& functions,
                     CompileOptions& options);

}  // namespace scopevm::tool

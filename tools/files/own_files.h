// Finds the other files of this program's build tree or installation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::tool {

// The folders that can contain the project's libraries: the folder of this program (build trees)
// and the library folders of its installation prefix: lib, lib64 and the multiarch folder
// (lib/x86_64-linux-gnu).
std::vector<std::filesystem::path> library_folders();

// The path of a library in the first of library_folders() that contains it. Errors: kNotFound.
Result<std::string> find_own_library(const std::string& name);

// The path of a program that only this project's programs start: in the folder of this program, or
// in libexec/scopevm of its installation prefix. Errors: kNotFound.
Result<std::string> find_own_program(const std::string& name);

}  // namespace scopevm::tool

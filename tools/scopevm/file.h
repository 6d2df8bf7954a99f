// Reads and writes whole files.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::tool {

// Errors: kNotFound.
Result<std::vector<uint8_t>> read_file(const std::string& path);

// Fails if `output` is the same regular file as one of the inputs: the command would overwrite its
// input. Empty strings denote no file. Errors: kInvalidArgument.
Status check_is_no_input(const std::string& output, std::initializer_list<std::string> inputs);

// See format::write_file.
Status write_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace scopevm::tool

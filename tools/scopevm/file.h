// Reads and writes whole files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::tool {

// Errors: kNotFound.
Result<std::vector<uint8_t>> read_file(const std::string& path);

// See format::write_file.
Status write_file(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace scopevm::tool

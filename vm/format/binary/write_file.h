// Writes whole files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "scopevm/status.h"

namespace scopevm::format {

// Writes the concatenation of `pieces` to `path`. Symbolic links are followed. A regular file is
// replaced atomically: a reader sees either the old or the new contents. The new file has the mode
// of the old one. A process that has mapped the old file keeps the old contents. Other files, such
// as /dev/null and pipes, are written to directly, and so is a file without a name or in a folder
// that is not writable. A direct write that fails can leave a partial file. Errors:
// kInvalidArgument (with the system's error).
Status write_file(const std::string& path, std::span<const std::span<const uint8_t>> pieces);

}  // namespace scopevm::format

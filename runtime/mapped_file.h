// A file mapped read-only into memory; its pages are shared between processes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "scopevm/status.h"

namespace scopevm::runtime {

struct MappedFile {
  std::shared_ptr<const void> owner;  // the last copy unmaps the file
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

// Maps a whole file. For an empty file, `data` is null. Errors: kNotFound (the file cannot be
// opened or mapped, or is not a regular file).
Result<MappedFile> map_file(const std::string& path);

}  // namespace scopevm::runtime

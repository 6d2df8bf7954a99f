// A whole file, mapped read-only and shared with every process that maps it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "scopevm/status.h"

namespace scopevm::runtime {

struct MappedFile {
  std::shared_ptr<const void> owner;  // unmaps with its last copy
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

// Errors: kNotFound (the system's reason; not a regular file). An empty file has size 0.
Result<MappedFile> map_file(const std::string& path);

}  // namespace scopevm::runtime

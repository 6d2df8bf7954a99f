// Sizes in messages.
#pragma once

#include <cstdint>
#include <string>

namespace scopevm::runtime {

// The exact number: "1 byte", "640 bytes", "1.5 KiB", "12.0 MiB", "1025 bytes".
std::string bytes_text(int64_t bytes);

}  // namespace scopevm::runtime

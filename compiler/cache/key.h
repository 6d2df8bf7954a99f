// The keys of the cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "scopevm/compiler.h"

namespace scopevm::compiler::cache {

// BLAKE3 of the bytes, in hexadecimal digits.
std::string digest_of(std::span<const uint8_t> bytes);
// Of a regular file. Empty if it cannot be read.
std::optional<std::string> file_digest(const std::string& path);

// Identifies everything that determines the module except the files with external data, which are
// known only after the model is imported. Empty if the key is unknown: model_bytes is unset, or the
// library of the compiler or a library of external functions cannot be read.
std::optional<std::string> key_of(const CompileOptions& options);

}  // namespace scopevm::compiler::cache

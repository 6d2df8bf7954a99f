// Seed corpus of the reader's fuzz target.
#pragma once

#include <cstdint>
#include <vector>

namespace scopevm::format {

// The sample modules as files, as tables and code, and as assembly.
std::vector<std::vector<uint8_t>> fuzz_corpus();

}  // namespace scopevm::format

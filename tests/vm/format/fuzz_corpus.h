// Seed corpus of the reader's fuzz target.
#pragma once

#include <cstdint>
#include <vector>

namespace scopevm::format {

// Each sample module in three forms: as a file, as tables and code without constants and images,
// and as assembly.
std::vector<std::vector<uint8_t>> fuzz_corpus();

}  // namespace scopevm::format

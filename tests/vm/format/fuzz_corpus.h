// Inputs that the fuzz target of the reader starts from.
#pragma once

#include <cstdint>
#include <vector>

namespace scopevm::format {

// The sample modules as files, as tables and code, and as text.
std::vector<std::vector<uint8_t>> fuzz_corpus();

}  // namespace scopevm::format

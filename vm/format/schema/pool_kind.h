// The kinds of pools, shared by the compiler's machine and the module format, which stores the
// numbers.
#pragma once

#include <cstdint>

namespace scopevm::format {

enum class PoolKind : uint8_t { kHeap = 0, kArena = 1, kStack = 2, kConstant = 3 };

}  // namespace scopevm::format

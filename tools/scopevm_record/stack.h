// The call stack of a hooked function.
#pragma once

#include <cstdint>

namespace scopevm::record {

// Stores return addresses in frames[0..depth), from `caller` outwards, and 0 after the last one.
// REQUIRES: frames[0] is `caller`.
void capture_stack(const void* caller, uint64_t* frames, uint64_t depth);

}  // namespace scopevm::record

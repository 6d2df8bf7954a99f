// Checks the memory of a call: its peak, which the runtime measures, against the bound, which the
// dims determine.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scopevm/call.h"
#include "scopevm/module.h"

namespace scopevm::conformance {

// Describes the first pool whose lower bound exceeds the peak, or whose bound is less than the
// peak. Empty if there is none. The bound must equal the peak if the dims determine all sizes of
// the pool and the module has no calls of functions, which a branch can skip. If the memory is
// reserved, such a pool must have no allocations.
std::string wrong_memory_use(const Module& module, const CallStats& stats,
                             const std::map<std::string, int64_t>& dims, bool is_reserved = false);

}  // namespace scopevm::conformance

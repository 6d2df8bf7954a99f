// The error for a failed allocation from a pool.
#pragma once

#include <cstdint>

#include "runtime/memory/scope_memory.h"
#include "scopevm/status.h"

namespace scopevm::vm {

// REQUIRES: outcome is not kOk.
Status allocation_failure(runtime::ScopeMemory::Outcome outcome, int64_t bytes,
                          runtime::ScopeMemory& memory);

}  // namespace scopevm::vm

// Memory that the VM takes from a pool, and what it says when there is none.
#pragma once

#include <cstdint>

#include "runtime/memory/scope_memory.h"
#include "scopevm/status.h"

namespace scopevm::vm {

// REQUIRES: outcome is not kOk.
Status allocation_failure(runtime::ScopeMemory::Outcome outcome, int64_t bytes,
                          const runtime::ScopeMemory& memory);

}  // namespace scopevm::vm

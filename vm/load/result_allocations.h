// Finds the storages of a function that become exactly one of its results. A call can substitute
// the caller's output buffer for such a storage.
#pragma once

#include <vector>

#include "vm/load/loaded_module.h"

namespace scopevm::vm {

// Conservative: omits, for example, a result whose storage is allocated in a loop, used by anything
// but one tensor and its views, or in a pool that a non-CPU device accesses too. When a call ends,
// it copies omitted results to the caller's buffers.
std::vector<ResultAllocation> find_result_allocations(const format::ModuleContents& module,
                                                      const format::FunctionDecl& function);

}  // namespace scopevm::vm

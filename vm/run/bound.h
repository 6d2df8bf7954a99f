// Computes the memory bound of a module for given dims, without a call: Module::memory_bound().
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scopevm/module.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {

Result<MemoryBound> memory_bound(const LoadedModule& module,
                                 const std::map<std::string, int64_t>& dims, int threads);

}  // namespace scopevm::vm

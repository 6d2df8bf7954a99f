// Computes the input shapes and the memory bound of a module for given dims, without a call:
// Module::input_shape() and Module::memory_bound().
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {

Result<std::vector<int64_t>> input_shape(const LoadedModule& module, size_t index,
                                         const std::map<std::string, int64_t>& dims);

Result<MemoryBound> memory_bound(const LoadedModule& module,
                                 const std::map<std::string, int64_t>& dims, int threads);

}  // namespace scopevm::vm

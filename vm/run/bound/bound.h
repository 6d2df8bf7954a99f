// Computes the input shapes and the memory bound of a module without a call: Module::input_shape(),
// memory_bound(), bound() and largest_bound().
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "scopevm/module.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {

Result<std::vector<int64_t>> input_shape(const LoadedModule& module, size_t index,
                                         const std::map<std::string, int64_t>& dims);

Result<MemoryBound> memory_bound(const LoadedModule& module,
                                 const std::map<std::string, int64_t>& dims, int threads);

Status bound(const LoadedModule& module, std::span<const int64_t> dims, std::span<int64_t> bytes,
             int threads);

Result<MemoryBound> largest_bound(const LoadedModule& module,
                                  const std::map<std::string, DimRange>& dims, int threads);

// Calls the bound function for ranges of an entry. `ranges`: by dimension of the signature.
// `bytes`: by pool.
Status bound_in(const LoadedModule& module, uint32_t entry, const DimRange* ranges, int threads,
                int64_t* bytes);

// The entry of a memory scope, which is added if it is missing.
ScopeBound& scope_of(MemoryBound& bound, const MemoryScope& scope);

}  // namespace scopevm::vm

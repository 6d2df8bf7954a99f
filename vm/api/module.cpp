// Module: signature and memory bound of a loaded module.
#include "scopevm/module.h"

#include <utility>

#include "runtime/without_exceptions.h"
#include "vm/load/loaded_module.h"
#include "vm/run/bound/bound.h"

namespace scopevm {

Module::Module(std::shared_ptr<const vm::LoadedModule> loaded) : loaded_(std::move(loaded)) {}

const Signature& Module::signature() const { return loaded_->signature(); }

Result<MemoryBound> Module::memory_bound(const std::map<std::string, int64_t>& dims,
                                         int threads) const {
  return runtime::without_exceptions([&] { return vm::memory_bound(*loaded_, dims, threads); });
}

const std::vector<MemoryScope>& Module::memory_scopes() const { return loaded_->memory_scopes(); }

Status Module::bound(std::span<const int64_t> dims, std::span<int64_t> bytes, int threads) const {
  return runtime::without_exceptions([&] { return vm::bound(*loaded_, dims, bytes, threads); });
}

Result<MemoryBound> Module::largest_bound(const std::map<std::string, DimRange>& dims,
                                          int threads) const {
  return runtime::without_exceptions([&] { return vm::largest_bound(*loaded_, dims, threads); });
}

Result<std::vector<int64_t>> Module::input_shape(size_t index,
                                                 const std::map<std::string, int64_t>& dims) const {
  return runtime::without_exceptions([&] { return vm::input_shape(*loaded_, index, dims); });
}

}  // namespace scopevm

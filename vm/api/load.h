// Loads modules: the implementation of Module::load() and Module::load_bytes(). The errors are
// theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "scopevm/module.h"
#include "scopevm/status.h"
#include "vm/load/loaded_module.h"

namespace scopevm::vm {

Result<std::shared_ptr<const LoadedModule>> load(const std::string& path,
                                                 const LoadOptions& options);
// The bytes are copied.
Result<std::shared_ptr<const LoadedModule>> load_bytes(std::span<const uint8_t> bytes,
                                                       const LoadOptions& options);
// `owner` keeps the bytes and options.weights alive.
Result<std::shared_ptr<const LoadedModule>> load_bytes(const std::shared_ptr<const void>& owner,
                                                       std::span<const uint8_t> bytes,
                                                       const LoadOptions& options);

}  // namespace scopevm::vm

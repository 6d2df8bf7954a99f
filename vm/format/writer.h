// ModuleContents -> module.bc. Equal contents give equal bytes.
#pragma once

#include <string>
#include <vector>

#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

// The whole file in memory.
std::vector<uint8_t> write_module(const ModuleContents& module);

// The same bytes into a file, which is replaced. Constants and images are written from where they
// lie, so memory does not grow with them. A failure leaves no file behind.
Status write_module_file(const std::string& path, const ModuleContents& module);

}  // namespace scopevm::format

// Zeroes the memory of a run, so that memory that no kernel writes has equal bytes in every run.
#pragma once

#include "scopevm/session.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::tool {

// The value of SessionOptions::wrap_allocator for a session of the module: each block of a pool in
// host memory is zeroed when it is allocated. `module` must outlive the session.
decltype(SessionOptions::wrap_allocator) zeroed_memory(const format::ModuleContents& module);

}  // namespace scopevm::tool

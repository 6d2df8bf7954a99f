// The oldest readers that can read a module. writer.cpp implements it.
#pragma once

#include <cstdint>

#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

// Returns the least minor version of a reader that can read the module: the newest version among
// those that introduced its contents. Code that cannot be decoded does not count.
uint16_t min_reader(const ModuleContents& module);

}  // namespace scopevm::format

// Modules whose calls are overhead of the VM: their kernels are empty. A benchmark measures the
// time of the cases, and a test counts their instructions.
#pragma once

#include <cstdint>
#include <span>

#include "vm/format/schema/module_contents.h"

namespace scopevm::test {

struct OverheadCase {
  const char* name;
  format::ModuleContents (*make)();  // calls take no inputs and have no results
  int64_t items;                     // what `name` says happens so often in a call
  // The instructions that the CPU may execute for an item, in a release build.
  double most_instructions;
};

std::span<const OverheadCase> overhead_cases();

}  // namespace scopevm::test

// module.bc -> ModuleContents.
#pragma once

#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

struct ReadOptions {
  // Reads every byte of the constants to check them: 25 ms for 400 MB in the page cache. Without
  // it, damaged weights are computed with; every other section is checked always.
  bool check_constants = true;
};

// Checks and takes apart a module. Constants and images point into `file` and keep it alive.
// Rejects every damaged or truncated file with a message that names what is wrong and where.
// Whether the code may run is verify()'s question (vm/format/verify.h). REQUIRES: file.data is a
// multiple of 64, as in a mapped file and from aligned_copy.
Result<ModuleContents> read_module(const Bytes& file, const ReadOptions& options = {});

}  // namespace scopevm::format

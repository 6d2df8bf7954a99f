// Reads a module file into ModuleContents.
#pragma once

#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

struct ReadOptions {
  // Validates the checksum of the constants, which reads all of them: 25 ms for 400 MB in the page
  // cache. If false, damaged weights are not detected. All other sections are always checked.
  bool check_constants = true;
};

// Validates and parses a module file. Constants and images reference `file` and keep it alive. Does
// not verify the contents; verify() in vm/format/verify.h does. Errors: kInvalidModel, with the
// error and its location, for every damaged or truncated file; kInvalidArgument if file.data is not
// 64-byte aligned, as mapped files and aligned_copy() are.
Result<ModuleContents> read_module(const Bytes& file, const ReadOptions& options = {});

}  // namespace scopevm::format

// Reads a module file into ModuleContents.
#pragma once

#include <functional>
#include <optional>

#include "scopevm/status.h"
#include "vm/format/binary/weights.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

struct ReadOptions {
  // Validates the checksum of the constants, which reads all of them: 25 ms for 400 MB in the page
  // cache. If false, damaged weights are not detected. All other sections are always checked.
  bool check_constants = true;
  // Returns the bytes of a file of weights that a module names; no value: they are not needed, and
  // the constants have no bytes. Without the function, such a module is an error. Called at most
  // once for each file.
  std::function<Result<std::optional<Bytes>>(const WeightsFile& file)> find_weights = {};
};

// Validates and parses a module file of this or another version (docs/module-format.md#versions).
// Constants, images and further sections reference `file` and keep file.owner alive; constants in a
// file of weights reference the bytes of that file. The contents do not record where the constants
// are stored, and are not verified: see verify() in vm/format/verify/verify.h. Errors:
// kInvalidModel, with the error and its location, for a damaged or truncated file; kInvalidArgument
// if file.data is not 64-byte aligned; kNotFound without options.find_weights, if it is needed; and
// those of options.find_weights. Mapped files and the result of aligned_copy() are aligned.
Result<ModuleContents> read_module(const Bytes& file, const ReadOptions& options = {});

}  // namespace scopevm::format

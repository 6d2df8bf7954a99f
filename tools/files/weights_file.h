// Writes modules whose weights are in a file of their own.
#pragma once

#include <string>

#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::tool {

// What --weights does, for the help of the commands.
inline constexpr char kWeightsHelp[] =
    "Write the weights to this file, and those of rank N from 1 to FILE.rankN. An equal file is "
    "kept, so that modules share it";

// Fails if `weights` cannot be the file of the weights of the module `module`, so that a long
// computation is not lost. "" denotes no file. Errors: kInvalidArgument, kNotFound.
Status check_weights_path(const std::string& weights, const std::string& module);

// Writes `contents` without the constants to the file `module`, and the constants to the file
// `weights`, unless that file has these bytes already. Constants of other ranks than 0 have files
// of their own. Errors: those of write_file(), kInvalidArgument if a file of weights exists with
// other bytes, and kNotFound if libsodium is not installed.
Status write_with_weights(const std::string& module, const std::string& weights,
                          const format::ModuleContents& contents);

}  // namespace scopevm::tool

// Writes ModuleContents as a module file. Equal contents give equal bytes.
// REQUIRES: each name in module.sections is valid (is_section_name() in layout.h) and unique.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scopevm/status.h"
#include "vm/format/binary/weights.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

// Returns the file's bytes. If there are files of weights, it names them and does not contain the
// constants. REQUIRES: is_weights_name() is true for their names; there is one without a rank, or
// those of all ranks that have constants, in the order of ranks.
std::vector<uint8_t> write_module(const ModuleContents& module,
                                  std::span<const WeightsFile> weights = {});

// Writes the bytes of write_module() to a file. An existing file is replaced. Constants and images
// are written from their memory, without a copy. The errors are those of write_file(). On failure
// no partial file remains, except after a direct write (write_file.h).
Status write_module_file(const std::string& path, const ModuleContents& module);

}  // namespace scopevm::format

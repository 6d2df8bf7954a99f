// Text -> ModuleContents, the way back from disassembler.h.
#pragma once

#include <string_view>

#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

// Errors: "FILE_NAME:LINE:COLUMN: message". The contents are not verified: verify() does that.
Result<ModuleContents> assemble(std::string_view text, std::string_view file_name = "module.sva");

}  // namespace scopevm::format

// Assembles ModuleContents from assembly text; the inverse of disassembler.h.
#pragma once

#include <string_view>

#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

// Errors: kInvalidModel, "FILE_NAME:LINE:COLUMN: message". The contents are not verified; see
// verify().
Result<ModuleContents> assemble(std::string_view text, std::string_view file_name = "module.sva");

}  // namespace scopevm::format

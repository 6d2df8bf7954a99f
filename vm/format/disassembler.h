// ModuleContents -> text. docs/module-format.md describes the text; assembler.h reads it back.
#pragma once

#include <string>

#include "vm/format/module_contents.h"

namespace scopevm::format {

struct DisassembleOptions {
  // Leaves the bytes of constants and images out: for reading, not for assembling.
  bool elide_data = false;
};

// One declaration or instruction a line. assemble() turns the text into equal contents. Code need
// not be verified: words that are no instruction are printed as `.word`.
std::string disassemble(const ModuleContents& module, const DisassembleOptions& options = {});

}  // namespace scopevm::format

// Prints ModuleContents as assembly. docs/module-format.md describes the syntax; assembler.h is the
// inverse.
#pragma once

#include <string>

#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

struct DisassembleOptions {
  // Omits the bytes of constants and images. The output then cannot be assembled.
  bool elide_data = false;
};

// Prints one declaration or instruction per line. assemble() restores equal contents from the
// result. The module can be unverified: words that do not form an instruction are printed as
// `.word`.
std::string disassemble(const ModuleContents& module, const DisassembleOptions& options = {});

}  // namespace scopevm::format

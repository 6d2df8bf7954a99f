// The property of every module that can be read or assembled.
#pragma once

#include "vm/format/assembly/assembler.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/writer.h"
#include "vm/format/verify/verify.h"

namespace scopevm::format {

// Verifies a module, which may fail, and ends the program unless its assembly represents it
// completely. The assembly of a module that the verifier rejects does so too.
inline void check_round_trip(const ModuleContents& module) {
  (void)verify(module).ok();
  const Result<ModuleContents> again = assemble(disassemble(module));
  if (!again.ok() || write_module(module) != write_module(*again)) __builtin_trap();
}

}  // namespace scopevm::format

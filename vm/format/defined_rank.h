// The rank of what an instruction writes: one function, so that the verifier and the layout of
// frames cannot disagree.
#pragma once

#include <cstdint>

#include "vm/format/module_contents.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {

// The rank of the tensor that register `i` of `field` holds after the instruction. 0 for other
// values, and for a copy of another register: the instruction that wrote that one has its rank.
// REQUIRES: `field` is written; the instruction passed verify_instructions().
uint32_t defined_rank(const ModuleContents& module, const isa::Instruction& in,
                      const isa::Instruction::Field& field, uint32_t i);

}  // namespace scopevm::format

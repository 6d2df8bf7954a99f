// The rank of the tensors that an instruction writes. The verifier and the frame layout share this
// function, so that they agree.
#pragma once

#include <cstdint>

#include "vm/format/schema/module_contents.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {

// The rank of the tensor that register `i` of `field` holds after the instruction. 0 for other
// kinds of value, except that a list output of a callee has the declared rank of its elements. Also
// 0 for a copy: the definition of the copied register already determines the rank. REQUIRES:
// `field` is written; the instruction passed verify_instructions().
uint32_t defined_rank(const ModuleContents& module, const isa::Instruction& in,
                      const isa::Instruction::Field& field, uint32_t i);

}  // namespace scopevm::format

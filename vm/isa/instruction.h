// Words -> instructions, for code that treats all opcodes alike and trusts nothing: the verifier
// and the text form. The interpreter uses decode<Op> of opcodes.h instead.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "scopevm/status.h"
#include "vm/isa/opcodes.h"

namespace scopevm::isa {

// One instruction cut into its fields. Views the code.
struct Instruction {
  struct Field {
    FieldType type;
    std::string_view name;
    std::span<const uint32_t> words;  // the elements of a list without their count, else one word
  };

  const OpcodeRow* row = nullptr;
  uint32_t start = 0;  // word index of its first word
  uint32_t word_count = 0;
  std::array<Field, kMaxFields> field_storage = {};

  std::span<const Field> fields() const& { return {field_storage.data(), row->fields.size()}; }
  std::span<const Field> fields() && = delete;  // they would outlive it
};

// Cuts the instruction at word `start`. Fails, naming the word, unless its opcode is known, it lies
// within the code, and its fields fill it exactly. The values of fields are not judged.
Result<Instruction> read_instruction(std::span<const uint32_t> code, uint32_t start);

}  // namespace scopevm::isa

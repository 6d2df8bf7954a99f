// Decodes bytecode words into generic instructions, for code that treats all opcodes uniformly: the
// verifier, the loader and the disassembler. The interpreter uses decode<Op> of opcodes.h instead.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "scopevm/status.h"
#include "vm/isa/opcodes.h"

namespace scopevm::isa {

// One decoded instruction. References the code, which must outlive it.
struct Instruction {
  struct Field {
    const FieldRow* row = nullptr;
    std::span<const uint32_t> words;  // one word, or the elements of a list without the count word

    FieldForm form() const { return isa::form(row->type); }
    Access access() const { return isa::access(row->type); }
    bool is_register() const { return isa::is_register(row->type); }
    std::string_view name() const { return row->name; }
  };

  const OpcodeRow* row = nullptr;
  uint32_t start = 0;  // word index of its first word
  uint32_t word_count = 0;
  std::array<Field, kMaxFields> field_storage = {};

  std::span<const Field> fields() const& { return {field_storage.data(), row->fields.size()}; }
  std::span<const Field> fields() && = delete;  // the span would dangle

  // Argument `i` of a rule or definition of one of the fields: the field itself, its first word, or
  // that word as an integer operand. The parameter in rules.def determines which accessor applies.
  template <typename Kind>
  const Field& field(const Term<Kind>& term, size_t i) const {
    return field_storage[term.arguments[i]];
  }
  template <typename Kind>
  uint32_t word(const Term<Kind>& term, size_t i) const {
    return field(term, i).words[0];
  }
  template <typename Kind>
  Int integer(const Term<Kind>& term, size_t i) const {
    return Int::from_word(word(term, i));
  }
};

// Decodes the instruction at word `start`. Errors: kInvalidModel, with the word index, if the
// opcode is unknown, the instruction extends past the code, or its fields do not fill it exactly.
// The values of fields are not checked.
Result<Instruction> read_instruction(std::span<const uint32_t> code, uint32_t start);

// Like read_instruction(), without checks.
// REQUIRES: read_instruction() succeeds for this code and word.
Instruction verified_instruction(std::span<const uint32_t> code, uint32_t start);

}  // namespace scopevm::isa

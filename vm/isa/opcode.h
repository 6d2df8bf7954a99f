// The opcodes of vm/isa/opcodes.def as an enum, and how to read an instruction's first word.
#pragma once

#include <cstdint>
#include <string_view>

namespace scopevm::isa {

enum class Opcode : uint16_t {
#define FIELD(type, name)
#define OPCODE(name, code, effect, ...) name = code,
#include "vm/isa/opcodes.def"
#undef OPCODE
#undef FIELD
};

// Top bit of an int operand: the rest is a slot index.
inline constexpr uint32_t kSlotBit = 0x80000000U;

constexpr Opcode opcode(uint32_t word) { return static_cast<Opcode>(word & 0xffff); }
constexpr uint32_t word_count(uint32_t word) { return word >> 16; }

constexpr std::string_view name(Opcode opcode) {
  switch (opcode) {
#define FIELD(type, name)
#define OPCODE(name, code, effect, ...) \
  case Opcode::name:                    \
    return #name;
#include "vm/isa/opcodes.def"
#undef OPCODE
#undef FIELD
  }
  return "?";
}

}  // namespace scopevm::isa

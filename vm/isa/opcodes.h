// From opcodes.def: the Opcode enumeration, one struct of typed fields per opcode, their decoder,
// and the rows as data for code that treats all opcodes alike (verifier, text form, docs).
//
// The interpreter's way through a verified function:
//
//   switch (opcode(*pc)) {
//     case Opcode::load_dim: {
//       auto in = decode<op::load_dim>(pc);   // loads of words at fixed offsets, nothing else
//       ...
//     }
//   }
//   pc += word_count(*pc);
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vm/isa/field_values.h"

namespace scopevm::isa {

enum class Opcode : uint16_t {
#define FIELD(type, name)
#define OPCODE(name, code, effect, ...) name = code,
#include "vm/isa/opcodes.def"
#undef OPCODE
#undef FIELD
};

// FieldType::int_field for `int` in opcodes.def, and so on.
enum class FieldType : uint8_t {
#define FIELD_TYPE(token, type, text) token##_field,
#include "vm/isa/field_types.def"
#undef FIELD_TYPE
};

// Top bit of an int operand: the rest is a slot index.
inline constexpr uint32_t kSlotBit = Int::kSlotBit;

inline constexpr uint32_t kMaxInstructionWords = 0xFFFF;

constexpr uint32_t instruction_word(Opcode opcode, uint32_t word_count) {
  return static_cast<uint32_t>(opcode) | word_count << 16;
}
constexpr Opcode opcode(uint32_t first_word) { return static_cast<Opcode>(first_word & 0xFFFF); }
constexpr uint32_t word_count(uint32_t first_word) { return first_word >> 16; }

namespace field_types {
#define FIELD_TYPE(token, type, text) using token##_type = type;
#include "vm/isa/field_types.def"
#undef FIELD_TYPE
}  // namespace field_types

// op::launch{.kernel = ..., .params = ...}: the fields of one instruction, in the table's order.
// Lists view words owned elsewhere.
namespace op {
#define FIELD(type, name) field_types::type##_type name = {};
#define OPCODE(name, code, effect, ...)             \
  struct name {                                     \
    static constexpr Opcode kOpcode = Opcode::name; \
    __VA_ARGS__                                     \
  };
#include "vm/isa/opcodes.def"
#undef OPCODE
#undef FIELD
}  // namespace op

// Calls visit(field) for every field of the instruction, in order.
#define FIELD(type, name) visit(in.name);
#define OPCODE(name, code, effect, ...)                              \
  template <typename Visitor>                                        \
  constexpr void visit_fields(op::name& in, Visitor&& visit) {       \
    __VA_ARGS__                                                      \
  }                                                                  \
  template <typename Visitor>                                        \
  constexpr void visit_fields(const op::name& in, Visitor&& visit) { \
    __VA_ARGS__                                                      \
  }
#include "vm/isa/opcodes.def"
#undef OPCODE
#undef FIELD

// Reads consecutive fields. No bounds are checked: the words have been verified.
class FieldReader {
 public:
  constexpr explicit FieldReader(const uint32_t* at) : at_(at) {}

  template <typename T>
  constexpr void operator()(T& field) {
    field = T::from_word(*at_++);
  }
  constexpr void operator()(DType& field) { field = static_cast<DType>(*at_++); }
  template <typename T>
  constexpr void operator()(List<T>& field) {
    field = List<T>(at_ + 1, *at_);
    at_ += 1 + field.size();
  }

 private:
  const uint32_t* at_;
};

// The fields of the instruction whose first word is *at.
// REQUIRES: the code was verified and opcode(*at) is Op's.
template <typename Op>
constexpr Op decode(const uint32_t* at) {
  Op in;
  visit_fields(in, FieldReader(at + 1));
  return in;
}

// The table's rows as data.
struct FieldRow {
  FieldType type;
  std::string_view name;
};
struct OpcodeRow {
  Opcode opcode;
  std::string_view name;
  std::string_view effect;
  std::span<const FieldRow> fields;
};
inline constexpr size_t kMaxFields = 8;

// All rows, in the order of opcodes.def.
std::span<const OpcodeRow> opcode_rows();
// Null if there is no such opcode.
const OpcodeRow* find_opcode(uint32_t code);
const OpcodeRow* find_opcode(std::string_view name);

std::string_view name(Opcode opcode);          // "alloc_tensor"; "?" if there is no such opcode
std::string_view name(FieldType type);         // "regs"
std::string_view explanation(FieldType type);  // "count word, then registers read"

constexpr bool is_list(FieldType type) {
  return type == FieldType::regs_field || type == FieldType::dsts_field ||
         type == FieldType::ints_field;
}

}  // namespace scopevm::isa

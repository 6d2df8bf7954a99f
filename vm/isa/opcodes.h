// Generated from opcodes.def: the Opcode enumeration, one struct of typed fields per opcode, and
// their decoder. Also the rows as data, for code that treats all opcodes uniformly: verifier,
// assembly, docs.
//
// How the interpreter decodes a verified function:
//
//   switch (opcode(*pc)) {
//     case Opcode::load_dim: {
//       auto in = decode<op::load_dim>(pc);   // loads of words at fixed offsets, nothing else
//       ...
//     }
//   }
//   pc += word_count(*pc);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "vm/isa/field_values.h"
#include "vm/isa/rules.h"

namespace scopevm::isa {

enum class Opcode : uint16_t {
#define OPCODE(name, code, effect, ...) name = code,
#include "vm/isa/opcodes.def"
};

// FieldForm::int_form for form `int` of field_types.def, and so on.
enum class FieldForm : uint8_t {
#define FIELD_FORM(token) token##_form,
#include "vm/isa/field_types.def"
};
inline constexpr size_t kFieldFormCount = 0
#define FIELD_FORM(token) +1
#include "vm/isa/field_types.def"
    ;

// FieldType::int_field for `int` in opcodes.def, and so on.
enum class FieldType : uint8_t {
#define FIELD_TYPE(token, form, access, type, text) token##_field,
#include "vm/isa/field_types.def"
};

// How an instruction accesses the registers of a field. kUpdate reads and then writes the register;
// kRelease reads it and leaves it empty.
enum class Access : uint8_t { kNone, kRead, kWrite, kUpdate, kRelease };

constexpr bool is_written(Access access) {
  return access == Access::kWrite || access == Access::kUpdate;
}
constexpr bool is_read(Access access) {
  return access == Access::kRead || access == Access::kUpdate || access == Access::kRelease;
}

// Top bit of an int operand: the low 31 bits are a slot index.
inline constexpr uint32_t kSlotBit = Int::kSlotBit;

inline constexpr uint32_t kMaxInstructionWords = 0xFFFF;

constexpr uint32_t instruction_word(Opcode opcode, uint32_t word_count) {
  return static_cast<uint32_t>(opcode) | word_count << 16;
}
constexpr Opcode opcode(uint32_t first_word) { return static_cast<Opcode>(first_word & 0xFFFF); }
constexpr uint32_t word_count(uint32_t first_word) { return first_word >> 16; }

namespace field_types {
#define FIELD_TYPE(token, form, access, type, text) using token##_type = type;
#include "vm/isa/field_types.def"
}  // namespace field_types

namespace traits_of {
#define TRAIT(name) | trait_bit(Trait::name)
#define OPCODE(name, code, effect, ...) inline constexpr uint32_t name = 0 __VA_ARGS__;
#include "vm/isa/opcodes.def"
}  // namespace traits_of

namespace since {
#define SINCE(minor) +minor
#define OPCODE(name, code, effect, ...) inline constexpr uint16_t name = 0 __VA_ARGS__;
#include "vm/isa/opcodes.def"
}  // namespace since

// op::launch{.entry = ..., .buffers = ...}: the fields of one instruction, in the table's order.
// Lists view words owned elsewhere.
namespace op {
#define FIELD(type, name, ...) field_types::type##_type name = {};
#define OPCODE(name, code, effect, ...)                                                   \
  struct name {                                                                           \
    static constexpr Opcode kOpcode = Opcode::name;                                       \
    static constexpr bool has(Trait trait) { return traits_of::name & trait_bit(trait); } \
    __VA_ARGS__                                                                           \
  };
#include "vm/isa/opcodes.def"
}  // namespace op

// Calls visit(field) for every field of the instruction, in order.
#define FIELD(type, name, ...) visit(in.name);
#define OPCODE(name, code, effect, ...)                                               \
  template <typename Visitor>                                                         \
  constexpr void visit_fields([[maybe_unused]] op::name& in, Visitor&& visit) {       \
    __VA_ARGS__                                                                       \
  }                                                                                   \
  template <typename Visitor>                                                         \
  constexpr void visit_fields([[maybe_unused]] const op::name& in, Visitor&& visit) { \
    __VA_ARGS__                                                                       \
  }
#include "vm/isa/opcodes.def"

// Reads consecutive fields without bounds checks, because the words have been verified.
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
inline constexpr size_t kMaxRules = 5;

struct FieldRow {
  FieldType type = {};
  std::string_view name;
  uint8_t rule_count = 0;
  std::array<Rule, kMaxRules> rule_storage = {};
  std::optional<Definition> definition;  // set for written fields

  constexpr std::span<const Rule> rules() const { return {rule_storage.data(), rule_count}; }
};
struct OpcodeRow {
  Opcode opcode;
  std::string_view name;
  std::string_view effect;
  uint32_t traits;
  std::span<const FieldRow> fields;
  // The minor version of the module format that introduced the opcode; 0 for the first opcodes.
  uint16_t since = 0;

  constexpr bool has(Trait trait) const { return traits & trait_bit(trait); }
};
inline constexpr size_t kMaxFields = 8;

// All rows, in the order of opcodes.def.
std::span<const OpcodeRow> opcode_rows();
// Null if there is no such opcode.
const OpcodeRow* find_opcode(uint32_t code);
const OpcodeRow* find_opcode(std::string_view name);

std::string_view name(Opcode opcode);          // "alloc_tensor"; "?" if there is no such opcode
std::string_view name(FieldForm form);         // "regs"
std::string_view name(FieldType type);         // "dsts"
std::string_view explanation(FieldType type);  // "count word, then registers written"

namespace field_type_rows {
inline constexpr FieldForm kForms[] = {
#define FIELD_TYPE(token, form, access, type, text) FieldForm::form##_form,
#include "vm/isa/field_types.def"
};
inline constexpr Access kAccesses[] = {
#define FIELD_TYPE(token, form, access, type, text) Access::access,
#include "vm/isa/field_types.def"
};
}  // namespace field_type_rows

constexpr FieldForm form(FieldType type) {
  return field_type_rows::kForms[static_cast<size_t>(type)];
}
constexpr Access access(FieldType type) {
  return field_type_rows::kAccesses[static_cast<size_t>(type)];
}
constexpr bool is_list(FieldForm form) {
  return form == FieldForm::regs_form || form == FieldForm::ints_form;
}
constexpr bool is_list(FieldType type) { return is_list(form(type)); }
constexpr bool is_register(FieldType type) {
  return form(type) == FieldForm::reg_form || form(type) == FieldForm::regs_form;
}

}  // namespace scopevm::isa

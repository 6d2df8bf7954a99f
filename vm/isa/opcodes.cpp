// opcodes.def as rows of data.
#include "vm/isa/opcodes.h"

#include <array>

namespace scopevm::isa {
namespace {

#define FIELD(type, name) FieldRow{FieldType::type##_field, #name},
#define OPCODE(name, code, effect, ...) constexpr FieldRow kFieldsOf_##name[] = {__VA_ARGS__};
#include "vm/isa/opcodes.def"
#undef OPCODE
#undef FIELD

constexpr OpcodeRow kRows[] = {
#define OPCODE(name, code, effect, ...) {Opcode::name, #name, effect, kFieldsOf_##name},
#include "vm/isa/opcodes.def"
#undef OPCODE
};

constexpr bool every_row_fits() {
  for (const OpcodeRow& row : kRows)
    if (row.fields.size() > kMaxFields) return false;
  return true;
}
static_assert(every_row_fits(), "raise kMaxFields");

struct FieldTypeRow {
  std::string_view name;
  std::string_view explanation;
};
constexpr FieldTypeRow kFieldTypes[] = {
#define FIELD_TYPE(token, type, text) {#token, text},
#include "vm/isa/field_types.def"
#undef FIELD_TYPE
};

constexpr uint32_t kLargestCode = 255;

// Row index by code; -1 where there is no opcode.
constexpr std::array<int16_t, kLargestCode + 1> row_by_code() {
  std::array<int16_t, kLargestCode + 1> table = {};
  table.fill(-1);
  int16_t row = 0;
  for (const OpcodeRow& each : kRows) table[static_cast<uint16_t>(each.opcode)] = row++;
  return table;
}
constexpr auto kRowByCode = row_by_code();

}  // namespace

std::span<const OpcodeRow> opcode_rows() { return kRows; }

const OpcodeRow* find_opcode(uint32_t code) {
  if (code > kLargestCode || kRowByCode[code] < 0) return nullptr;
  return &kRows[kRowByCode[code]];
}

const OpcodeRow* find_opcode(std::string_view name) {
  for (const OpcodeRow& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

std::string_view name(Opcode opcode) {
  const OpcodeRow* row = find_opcode(static_cast<uint32_t>(opcode));
  return row ? row->name : "?";
}
std::string_view name(FieldType type) { return kFieldTypes[static_cast<int>(type)].name; }
std::string_view explanation(FieldType type) {
  return kFieldTypes[static_cast<int>(type)].explanation;
}

}  // namespace scopevm::isa

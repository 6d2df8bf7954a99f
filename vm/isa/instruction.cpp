// Decodes instructions by the field types of their opcode's row; see instruction.h.
#include "vm/isa/instruction.h"

#include <string>

#include "runtime/count_text.h"

namespace scopevm::isa {
namespace {

Status malformed(uint32_t start, const std::string& what) {
  return Status(StatusCode::kInvalidModel, "word " + std::to_string(start) + ": " + what);
}

}  // namespace

Result<Instruction> read_instruction(std::span<const uint32_t> code, uint32_t start) {
  if (start >= code.size())
    return malformed(start,
                     "no instruction: the code has " + runtime::count_text(code.size(), "word"));
  uint32_t first = code[start];
  Instruction in;
  in.row = find_opcode(static_cast<uint32_t>(opcode(first)));
  in.start = start;
  in.word_count = word_count(first);
  if (!in.row) return malformed(start, "unknown opcode " + std::to_string(first & 0xFFFF));
  std::string op(in.row->name);
  if (in.word_count == 0) return malformed(start, op + ": length is 0");
  if (in.word_count > code.size() - start)
    return malformed(start, op + ": " + runtime::count_text(in.word_count, "word") +
                                ", but the code ends after " + std::to_string(code.size() - start));
  std::span<const uint32_t> rest = code.subspan(start + 1, in.word_count - 1);
  for (size_t i = 0; i < in.row->fields.size(); ++i) {
    const FieldRow& field = in.row->fields[i];
    bool fits = !rest.empty();
    size_t length = 1;
    if (fits && is_list(field.type)) {
      length = rest[0];
      rest = rest.subspan(1);
      fits = length <= rest.size();
    }
    if (!fits)
      return malformed(start, op + ": too short for field \"" + std::string(field.name) + "\"");
    in.field_storage[i] = {&field, rest.first(length)};
    rest = rest.subspan(length);
  }
  if (!rest.empty())
    return malformed(start, op + ": " + runtime::count_text(rest.size(), "extra word") +
                                " after the last field");
  return in;
}

Instruction verified_instruction(std::span<const uint32_t> code, uint32_t start) {
  Instruction in;
  in.row = find_opcode(static_cast<uint32_t>(opcode(code[start])));
  in.start = start;
  in.word_count = word_count(code[start]);
  // No bounds checks: read_instruction() has validated the words.
  const uint32_t* at = &code[start] + 1;
  Instruction::Field* to = in.field_storage.data();
  for (const FieldRow& field : in.row->fields) {
    const size_t length = is_list(field.type) ? *at++ : 1;
    *to++ = {&field, {at, length}};
    at += length;
  }
  return in;
}

}  // namespace scopevm::isa

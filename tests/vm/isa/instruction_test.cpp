// Decoding of arbitrary words into instructions, and the search of opcodes by code and name.
#include "vm/isa/instruction.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace scopevm::isa {
namespace {

std::string error_of(const std::vector<uint32_t>& code, uint32_t start = 0) {
  return std::string(read_instruction(code, start).status().message());
}

uint32_t first(Opcode opcode, uint32_t words) { return instruction_word(opcode, words); }

TEST(ReadInstruction, SplitsEveryOpcodeIntoItsFields) {
  for (const OpcodeRow& row : opcode_rows()) {
    std::vector<uint32_t> code = {0};
    for (const FieldRow& field : row.fields) {
      if (is_list(field.type)) code.push_back(2);
      code.push_back(1);
      if (is_list(field.type)) code.push_back(1);
    }
    code[0] = first(row.opcode, static_cast<uint32_t>(code.size()));
    Result<Instruction> in = read_instruction(code, 0);
    ASSERT_TRUE(in.ok()) << row.name << ": " << in.status().message();
    EXPECT_EQ(in->row, &row);
    EXPECT_EQ(in->fields().size(), row.fields.size());
    for (size_t i = 0; i < row.fields.size(); ++i)
      EXPECT_EQ(in->fields()[i].words.size(), is_list(row.fields[i].type) ? 2U : 1U);
  }
}

TEST(ReadInstruction, ReportsTheError) {
  EXPECT_EQ(error_of({}), "word 0: no instruction: the code has 0 words");
  EXPECT_EQ(error_of({0xFFFF}), "word 0: unknown opcode 65535");
  EXPECT_EQ(error_of({first(Opcode::jump, 0)}), "word 0: jump: length is 0");
  EXPECT_EQ(error_of({first(Opcode::jump, 3), 0}),
            "word 0: jump: 3 words, but the code ends after 2");
  EXPECT_EQ(error_of({first(Opcode::jump, 1)}), "word 0: jump: too short for field \"to\"");
  EXPECT_EQ(error_of({first(Opcode::jump, 3), 0, 0}),
            "word 0: jump: 1 extra word after the last field");
  EXPECT_EQ(error_of({first(Opcode::ret, 3), 0xFFFFFFFF, 0}),
            "word 0: ret: too short for field \"values\"");
}

TEST(ReadInstruction, SurvivesRandomWords) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint32_t> code(random() % 12);
    for (uint32_t& word : code) word = random() % 3 == 0 ? random() : random() % 70;
    if (!code.empty()) code[0] |= static_cast<uint32_t>(code.size()) << 16;
    Result<Instruction> in = read_instruction(code, 0);
    if (in.ok()) {
      EXPECT_LE(in->word_count, code.size());
    }
  }
}

TEST(Opcodes, CodesAndNamesAreUnique) {
  std::set<uint32_t> codes;
  std::set<std::string_view> names;
  for (const OpcodeRow& row : opcode_rows()) {
    EXPECT_TRUE(codes.insert(static_cast<uint32_t>(row.opcode)).second) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_opcode(static_cast<uint32_t>(row.opcode)), &row);
    EXPECT_EQ(find_opcode(row.name), &row);
  }
}

}  // namespace
}  // namespace scopevm::isa

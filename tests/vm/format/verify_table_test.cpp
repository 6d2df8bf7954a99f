// Invalid instructions that verify() rejects, generated for every opcode from the opcode table.
#include <gtest/gtest.h>

#include "tests/vm/format/sample_modules.h"
#include "vm/format/verify.h"
#include "vm/isa/opcodes.h"

namespace scopevm::format {
namespace {

using isa::FieldForm;
using isa::FieldRow;
using isa::FieldType;
using isa::OpcodeRow;

// A module with at least one entry in every table. Function "main" has the given code, 5 registers
// and 5 slots. Register 0 is the input x: f32[n, 8].
ModuleContents module_with(const std::vector<uint32_t>& code) {
  ModuleContents module = dense_module();
  module.messages = {"message"};
  FunctionDecl& main = module.functions[0];
  main.register_count = 5;
  main.sources = {};
  main.memory = {};
  main.code = code;
  return module;
}

std::string error_of(const ModuleContents& module) { return std::string(verify(module).message()); }

// The smallest word that is out of range for a field of the type.
uint32_t out_of_range(const ModuleContents& module, FieldType type) {
  const FunctionDecl& main = module.functions[0];
  switch (isa::form(type)) {
    case FieldForm::reg_form:
    case FieldForm::regs_form:
      return main.register_count;
    case FieldForm::int_form:
    case FieldForm::ints_form:
      if (type == FieldType::types_field) return isa::ValueType::kClosureBit + 1;
      return isa::kSlotBit | main.slot_count;
    case FieldForm::slot_form:
      return main.slot_count + (type == FieldType::slots_field ? 1 : 0);
    case FieldForm::function_form:
      return static_cast<uint32_t>(module.functions.size());
    case FieldForm::shape_fn_form:
      return static_cast<uint32_t>(module.shape_functions.size());
    case FieldForm::kernel_form:
      return static_cast<uint32_t>(module.kernels.size());
    case FieldForm::constant_form:
      return static_cast<uint32_t>(module.constants.size());
    case FieldForm::pool_form:
      return static_cast<uint32_t>(module.pools.size());
    case FieldForm::message_form:
      return static_cast<uint32_t>(module.messages.size());
    case FieldForm::dtype_form:
      return static_cast<uint32_t>(kDTypeCount);
    case FieldForm::target_form:
      return 1;  // inside the instruction
  }
  return 0;
}

// An instruction followed by a jump to its start. Its register fields are `reg`, the others 0, and
// each list has one element. Sets `words` to the word index of each field's value.
std::vector<uint32_t> code_of(const OpcodeRow& row, uint32_t reg, std::vector<uint32_t>& words) {
  std::vector<uint32_t> code = {0};
  words.clear();
  for (const FieldRow& field : row.fields) {
    if (is_list(field.type)) code.push_back(1);
    words.push_back(static_cast<uint32_t>(code.size()));
    code.push_back(is_register(field.type) ? reg : 0);
  }
  code[0] = isa::instruction_word(row.opcode, static_cast<uint32_t>(code.size()));
  code.push_back(isa::instruction_word(isa::Opcode::jump, 2));
  code.push_back(0);
  return code;
}

TEST(VerifyTable, RejectsEveryFieldOutOfRange) {
  for (const OpcodeRow& row : isa::opcode_rows()) {
    for (size_t i = 0; i < row.fields.size(); ++i) {
      std::vector<uint32_t> words;
      ModuleContents module = module_with(code_of(row, 0, words));
      const std::string context =
          "main: word 0: " + std::string(row.name) + ": " + std::string(row.fields[i].name) + ": ";
      EXPECT_NE(error_of(module).substr(0, context.size()), context) << "0 is in range";
      const uint32_t least = out_of_range(module, row.fields[i].type);
      for (uint32_t bad : {least, uint32_t{0xFFFFFFFF}}) {
        module.functions[0].code[words[i]] = bad;
        EXPECT_EQ(error_of(module).substr(0, context.size()), context) << bad;
      }
    }
  }
}

// The verifier checks every element of a list: here the second one is out of range.
TEST(VerifyTable, RejectsEveryElementOutOfRange) {
  for (const OpcodeRow& row : isa::opcode_rows()) {
    for (size_t i = 0; i < row.fields.size(); ++i) {
      if (!is_list(row.fields[i].type)) continue;
      std::vector<uint32_t> words;
      std::vector<uint32_t> code = code_of(row, 0, words);
      code.insert(code.begin() + words[i] + 1, 0xFFFFFFFF);
      code[words[i] - 1] = 2;
      code[0] += 1 << 16;
      const std::string context = std::string(row.fields[i].name) + ": ";
      EXPECT_NE(error_of(module_with(code)).find(context), std::string::npos) << row.name;
    }
  }
}

TEST(VerifyTable, RejectsReadsOfEmptyRegisters) {
  for (const OpcodeRow& row : isa::opcode_rows()) {
    for (size_t i = 0; i < row.fields.size(); ++i) {
      if (!is_read(isa::access(row.fields[i].type))) continue;
      std::vector<uint32_t> words;
      std::vector<uint32_t> code = code_of(row, 0, words);
      code[words[i]] = 1;
      EXPECT_NE(error_of(module_with(code)), "") << row.name << ": " << row.fields[i].name;
    }
  }
}

}  // namespace
}  // namespace scopevm::format

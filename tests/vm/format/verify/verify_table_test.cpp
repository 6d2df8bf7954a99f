// Invalid instructions that verify() rejects, for every opcode: fields out of range, and reads of
// empty registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tests/vm/format/sample_modules.h"
#include "tests/vm/format/verify/error_of.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/verify/verify.h"
#include "vm/isa/instruction.h"
#include "vm/isa/opcodes.h"

namespace scopevm::format {
namespace {

using isa::FieldForm;
using isa::FieldRow;
using isa::FieldType;
using isa::OpcodeRow;

// A module with at least one entry in each table that instructions refer to. Function "main" has
// the given code, 5 registers and 5 slots. Register 0 is the input x: f32[n, 8].
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

// A word that is out of range for a field of the type. Except for value types, it is the smallest
// such word.
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
      return main.slot_count;
    case FieldForm::function_form:
      return static_cast<uint32_t>(module.functions.size());
    case FieldForm::shape_fn_form:
      return static_cast<uint32_t>(module.shape_functions.size());
    case FieldForm::launch_form:
      return static_cast<uint32_t>(module.launches.size());
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

// The code of an instruction and a jump to its start. The instruction's register fields are `reg`,
// its other fields 0, and each list has one element. Sets `words` to the word index of each field,
// or of the element of a list.
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

// The verifier checks every element of a list: the second one is out of range.
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

// A valid instruction for each opcode that reads registers.
constexpr const char* kReads[] = {
    "ret (%r0)",
    "%r9 = call @identity (%r0)",
    "%r9 = call_closure %r2 (%r0) [267]",
    "%r9 = alloc_tensor %r4 offset=0 bytes=16 f32 [4]",
    "%r9 = alloc_view %r0 f32 [4]",
    "kill %r0",
    "device_copy to=%r5 to_pool=@global from=%r0 from_pool=@global",
    "grow_storage %r4 @global used=0 needed=64",
    "launch @k (%r0, %r5)",
    "call_extern @e (%r0, %r5)",
    "string_to_number to=%r5 from=%r3",
    "number_to_string to=%r8 from=%r0",
    "change_case to=%r8 from=%r3 upper=0",
    "concat_strings to=%r8 a=%r3 b=%r3",
    "count_pieces to=%r6 from=%r3 delimiter=%r3 max_splits=0",
    "split_strings to=%r8 from=%r3 delimiter=%r3 max_splits=0",
    "match_strings to=%r6 from=%r3 automaton=%r6",
    "shape_function @s (%r0)",
    "load_dim dst=s0 %r0 axis=0",
    "load_element dst=s0 %r6 index=0",
    "%r9 = move %r0",
    "%r9 = make_list @global depth=1 f32 (%r0)",
    "%r9 = list_get %r1 index=0 rank=1",
    "list_insert list=%r1 @global element=%r0 index=0",
    "list_append list=%r1 @global element=%r0",
    "list_erase %r1 @global index=0",
    "list_size dst=s0 %r1",
    "%r9 = make_closure @global @identity (%r0)",
};

// A module with the instruction in function 1. The value type 267 is f32 of rank 1.
ModuleContents module_with(const std::string& instruction) {
  const Result<ModuleContents> module = assemble(R"(
    scopevm_module 0.15 producer "test"
    device "cpu" kind "cpu"
    pool "global" heap device 0 limit -1
    kernel "k" buffers 2 params 0
    kernel "e" buffers 2 params 2 external "lib" operands [f32 1] results [f32 1] description ""
    launch kernel 0 params s0 grid 1 grain 1 bytes [4, 4] reads 1
    launch kernel 1 params s1 grid 1 grain 1 bytes [4, 4] reads 1 requires 0
    shape_function "s" slots 3 dims 1 first_slot 1 {
    }
    function "main" registers 0 slots 0 {
      code {
        ret ()
      }
    }
    function "reads" registers 21 slots 3 {
      input "tensor" f32 ["4"]
      input "list" sequence f32 ["..."]
      input "closure" closure f32 []
      input "strings" str ["4"]
      output "y" f32 ["4"]
      code {
        %r4 = alloc_storage @global size=16
        %r5 = alloc_tensor %r4 offset=0 bytes=16 f32 [4]
        %r6 = alloc_view %r5 i32 [4]
        %r7 = alloc_storage @global size=16
        %r8 = alloc_tensor %r7 offset=0 bytes=16 str [4]
        shape_function @s (%r0)
        jump read
        read:
        )" + instruction + R"(
        ret (%r5)
      }
    }
    function "identity" registers 1 slots 0 {
      input "x" f32 ["4"]
      output "y" f32 ["4"]
      code {
        ret (%r0)
      }
    }
    image devices [0] cpu "x86-64" features [] bytes 4 {
      AACAPw==
    }
    )");
  EXPECT_TRUE(module.ok()) << module.status().message();
  return *module;
}

bool reads_registers(const OpcodeRow& row) {
  return std::ranges::any_of(
      row.fields, [](const FieldRow& field) { return is_read(isa::access(field.type)); });
}

TEST(VerifyTable, RejectsReadsOfEmptyRegisters) {
  constexpr uint32_t kEmpty = 20;
  std::set<isa::Opcode> tested;
  for (const char* text : kReads) {
    ModuleContents module = module_with(std::string(text));
    EXPECT_EQ(error_of(module), "") << text;
    std::vector<uint32_t>& code = module.functions[1].code;
    // The tested instruction is the target of the only jump.
    uint32_t start = 0;
    while (isa::opcode(code[start]) != isa::Opcode::jump) start += isa::word_count(code[start]);
    const isa::Instruction in = isa::verified_instruction(code, code[start + 1]);
    tested.insert(in.row->opcode);
    for (const isa::Instruction::Field& field : in.fields()) {
      if (!is_read(field.access())) continue;
      for (const uint32_t& word : field.words) {
        uint32_t& reg = code[static_cast<size_t>(&word - code.data())];
        const uint32_t valid = std::exchange(reg, kEmpty);
        EXPECT_NE(error_of(module).find("register 20 is empty"), std::string::npos)
            << text << ": " << field.name() << ": " << error_of(module);
        reg = valid;
      }
    }
  }
  for (const OpcodeRow& row : isa::opcode_rows())
    EXPECT_EQ(tested.contains(row.opcode), reads_registers(row)) << row.name;
}

}  // namespace
}  // namespace scopevm::format

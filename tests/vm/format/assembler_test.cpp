// Tests of the disassembler and the assembler: the printed assembly, round trips of ModuleContents,
// and the assembler's error messages.
#include <gtest/gtest.h>

#include <random>

#include "tests/vm/format/sample_modules.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/writer.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {
namespace {

void expect_round_trip(const ModuleContents& module) {
  std::string text = disassemble(module);
  Result<ModuleContents> again = assemble(text);
  ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
  EXPECT_TRUE(are_equal(module, *again)) << text;
  EXPECT_EQ(write_module(module), write_module(*again));
  EXPECT_EQ(text, disassemble(*again));
}

TEST(Assembly, RoundTripsWholeModules) {
  expect_round_trip(ModuleContents());
  expect_round_trip(dense_module());
  expect_round_trip(branching_module());
  expect_round_trip(string_module());
  expect_round_trip(external_module());
  expect_round_trip(variant_module());
}

// Each field has a distinct value. Most indices are outside their table, so that the disassembler
// prints them as numbers.
TEST(Assembly, RoundTripsEveryOpcode) {
  for (const isa::OpcodeRow& row : isa::opcode_rows()) {
    std::vector<uint32_t> code = {0};
    uint32_t value = 1;
    for (const isa::FieldRow& field : row.fields) {
      if (is_list(field.type)) code.push_back(2);
      code.push_back(value++);
      if (is_list(field.type)) code.push_back(isa::kSlotBit | value++);
      if (is_register(field.type) && is_list(field.type)) code.back() &= ~isa::kSlotBit;
    }
    code[0] = isa::instruction_word(row.opcode, static_cast<uint32_t>(code.size()));
    ModuleContents module = dense_module();
    module.functions[0].sources = {};
    module.functions[0].code = code;
    expect_round_trip(module);
    EXPECT_NE(disassemble(module).find(std::string(row.name)), std::string::npos);
    EXPECT_EQ(disassemble(module).find(".word"), std::string::npos) << row.name;
  }
}

TEST(Assembly, ListsVariants) {
  std::string text = disassemble(variant_module());
  EXPECT_NE(text.find("\nvariant function 1 {\n"
                      "  dimension \"n\" min 1 max 1 multiple_of 1\n}\n"),
            std::string::npos)
      << text;
}

TEST(Assembly, PrintsAFunction) {
  std::string text = disassemble(dense_module());
  size_t start = text.find("\nfunction \"main\"");
  EXPECT_EQ(text.substr(start, text.find("\n}\n", start) + 3 - start), R"(
function "main" registers 6 slots 5 {
  dimension "n" min 1 max 512 multiple_of 1
  input "x" f32 ["n", "8"]
  output "y" f32 ["n", "4"]
  definition "A" formula "64*n"
  memory "workspace" pool 1 bytes s4 lower_bound s4 formula "64*n"
  memory "y" result pool 0 bytes s3 lower_bound s3 formula "16*n"
  code {
    shape_function @shape_main (%r0)
    %r1 = load_const @fc.weight
    %r2 = alloc_storage @global size=s3
    %r3 = alloc_storage @global.workspace size=s4
    %r4 = alloc_tensor %r2 offset=0 bytes=s3 f32 [s0, 4]
    %r5 = alloc_tensor %r3 offset=0 bytes=s4 u8 [s4]
    launch @k_dense (%r0, %r1, %r4, %r5) !"fc+relu"
    kill %r3
    kill %r5
    ret (%r4)
  }
}
)");
}

TEST(Assembly, PrintsLabelsAndQuotedNames) {
  std::string text = disassemble(branching_module());
  EXPECT_NE(text.find("branch condition=s2 then_to=L12 else_to=L18\n  L12:\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("%r4 = call @\"forward \xC3\xA9\" (%r0)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("device_copy to=%r6 to_pool=#3 from=%r2 from_pool=@global\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("fail @\"no element: \\\"n\\\" is 0\"\n"), std::string::npos) << text;
}

TEST(Assembly, KeepsDuplicateNames) {
  ModuleContents module = branching_module();
  module.messages = {"same", "same"};
  for (FunctionDecl& function : module.functions)
    for (size_t word = 0; word < function.code.size(); word += isa::word_count(function.code[word]))
      if (isa::opcode(function.code[word]) == isa::Opcode::fail) function.code[word + 1] = 1;
  EXPECT_NE(disassemble(module).find("fail #1"), std::string::npos);
  expect_round_trip(module);
}

TEST(Assembly, KeepsEveryByteOfStrings) {
  ModuleContents module;
  for (int byte = 0; byte < 256; ++byte) module.producer += static_cast<char>(byte);
  expect_round_trip(module);
}

TEST(Assembly, KeepsEveryLengthOfData) {
  ModuleContents module;
  std::string bytes;
  for (int size = 0; size < 130; ++size) {
    module.images.push_back({{0}, "cpu", {}, bytes_of(bytes)});
    bytes += static_cast<char>(size * 37);
  }
  expect_round_trip(module);
}

TEST(Assembly, KeepsSourcesInAnyOrder) {
  ModuleContents module = dense_module();
  module.functions[0].sources = {{32, "b"}, {1, "inside"}, {0, "a"}, {0, "a"}};
  expect_round_trip(module);
}

// Replaces random code words. Invalid instructions are printed as words, and the assembler restores
// the same words.
TEST(Assembly, KeepsInvalidCode) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    ModuleContents module = branching_module();
    std::vector<uint32_t>& code = module.functions[0].code;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes)
      code[random() % code.size()] = random() % 4 == 0 ? random() : random() % 40;
    std::string text = disassemble(module);
    Result<ModuleContents> again = assemble(text);
    ASSERT_TRUE(again.ok()) << again.status().message() << "\n" << text;
    ASSERT_EQ(again->functions[0].code, code) << text;
  }
}

TEST(Assembly, ElidedDataIsReportedAsMissing) {
  DisassembleOptions options;
  options.elide_data = true;
  std::string text = disassemble(dense_module(), options);
  EXPECT_NE(text.find("constant \"fc.weight\" f32 [8, 4] pool 2 bytes 128 elided\n"),
            std::string::npos);
  Result<ModuleContents> again = assemble(text, "m.sva");
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.status().message().find(": the data is elided"), std::string::npos);
}

TEST(Assembly, NumberOfSectionsIsLimited) {
  std::string text = "scopevm_module 0.15 producer \"t\"\n";
  for (int i = 0; i < 60; ++i) text += "section \"s" + std::to_string(i) + "\" bytes 0 {}\n";
  EXPECT_TRUE(assemble(text, "f.sva").ok());
  EXPECT_EQ(assemble(text + "section \"last\" bytes 0 {}", "f.sva").status().message(),
            "f.sva:62:16: too many sections");
}

struct BadAssembly {
  const char* name;
  const char* text;
  const char* error;
};

void PrintTo(const BadAssembly& bad, std::ostream* out) { *out << bad.name; }

#define HEADER "scopevm_module 0.15 producer \"t\"\n"
#define CODE(lines) HEADER "function \"f\" registers 1 slots 1 {\n code {\n" lines "\n}}\n"

const BadAssembly kBadAssembly[] = {
    {"Empty", "", "f.sva:1:1: expected 'scopevm_module', found the end of the file"},
    {"Version", "scopevm_module 9.1 producer \"t\"",
     "f.sva:1:16: unsupported module format 9.1, expected 0.15"},
    {"Declaration", HEADER "  gizmo", "f.sva:2:3: expected a declaration, found 'gizmo'"},
    {"String", HEADER "device \"cpu", "f.sva:2:8: unterminated string"},
    {"Escape", HEADER "device \"\\q\"",
     "f.sva:2:8: unknown escape in a string: expected \\\", \\\\, \\n or \\xHH"},
    {"Character", HEADER "device ?", "f.sva:2:8: unexpected character"},
    {"Choice", HEADER "pool \"p\" gizmo",
     "f.sva:2:10: expected one of heap, arena, stack, constant, found 'gizmo'"},
    {"NotWhole", HEADER "kernel \"k\" buffers 1.5 params 0",
     "f.sva:2:20: number 1.5 is out of range: expected an integer, at most 4294967295"},
    {"Real", HEADER "pool \"p\" heap device 0 limit -1 read_bytes_per_second nan",
     "f.sva:2:55: expected a number, found 'nan'"},
    {"RealRange", HEADER "pool \"p\" heap device 0 limit -1 latency_seconds 1e999",
     "f.sva:2:49: expected a number, found '1e999'"},
    {"NumberRange", HEADER "kernel \"k\" buffers 4294967296 params 0",
     "f.sva:2:20: number 4294967296 is out of range: expected an integer, at most 4294967295"},
    {"Base64", HEADER "image devices [0] cpu \"c\" features [] bytes 3 {\n  QUJ$\n}",
     "f.sva:3:6: invalid base64 data"},
    {"DataSize", HEADER "image devices [0] cpu \"c\" features [] bytes 4 {\n  QUJD\n}",
     "f.sva:2:45: expected 4 bytes, given 3"},
    {"SectionName", HEADER "section \"a b\" bytes 0 {}",
     "f.sva:2:15: invalid name of a section: expected up to 16 letters, digits, '_', '-' and '.'"},
    {"SectionTwice", HEADER "section \"a\" bytes 0 {}\nsection \"a\" bytes 0 {}",
     "f.sva:3:13: section \"a\" is defined twice"},
    {"SectionOfTheFormat", HEADER "section \"code\" bytes 0 {}",
     "f.sva:2:16: section \"code\" is defined twice"},
    {"Opcode", CODE("  frobnicate %r1"), "f.sva:4:3: unknown opcode 'frobnicate'"},
    {"FieldName", CODE("  %r0 = alloc_storage #0 bytes=4"),
     "f.sva:4:26: expected 'size', found 'bytes'"},
    {"Register", CODE("  kill s3"), "f.sva:4:8: expected a register, like %r3, found 's3'"},
    {"NoResult", CODE("  move %r1"),
     "f.sva:4:3: move writes one register: expected '%rN = move', given 0 registers"},
    {"ResultTooMany", CODE("  %r1 = kill %r0"), "f.sva:4:9: kill writes no register"},
    {"Immediate", CODE("  %r0 = alloc_storage #0 size=2147483648"),
     "f.sva:4:31: immediate is out of range: expected at most 2147483647, given 2147483648"},
    {"LabelUnbound", CODE("  jump nowhere"), "f.sva:4:8: undefined label nowhere"},
    {"LabelTwice", CODE("a:\na:"), "f.sva:5:1: duplicate label a"},
    {"Name", CODE("  call @g ()"), "f.sva:4:8: undefined function \"g\""},
    {"Unclosed", HEADER "function \"f\" registers 1 slots 1 {\n",
     "f.sva:3:1: expected a declaration of a function, found the end of the file"},
};

class BadAssemblyTest : public ::testing::TestWithParam<BadAssembly> {};
TEST_P(BadAssemblyTest, IsRejectedWithItsLocation) {
  Result<ModuleContents> module = assemble(GetParam().text, "f.sva");
  ASSERT_FALSE(module.ok());
  EXPECT_EQ(module.status().message(), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(Each, BadAssemblyTest, ::testing::ValuesIn(kBadAssembly),
                         [](const auto& test) { return test.param.name; });

TEST(Assembly, CommentsAndSpaceDoNotMatter) {
  Result<ModuleContents> module = assemble(
      "; a module\nscopevm_module 0.15 ; version\n producer \"t\"\ndevice\n\"cpu\" kind \"cpu\" ; "
      "x");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(module->devices.size(), 1U);
}

// Truncated and mutated assembly results in an error or in contents, never in a crash.
TEST(Assembly, SurvivesDamagedAssembly) {
  std::mt19937 random(5);
  std::string good = disassemble(dense_module());
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    if (random() % 2 == 0) text.resize(random() % text.size());
    Result<ModuleContents> module = assemble(text);
    if (!module.ok()) {
      ASSERT_FALSE(module.status().message().empty());
    }
  }
}

}  // namespace
}  // namespace scopevm::format

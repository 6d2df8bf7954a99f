// Launches of manipulated modules: tables that differ from those of the image, and buffers with
// fewer bytes than the kernel accesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/api/module_access.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/verify/verify.h"
#include "vm/isa/opcodes.h"

namespace scopevm {
namespace {

using ::testing::HasSubstr;

Tensor rows(int64_t count) { return *Tensor::allocate(DType::kF32, {count, 4}); }

// The status of a call of main(x: f32[3, 4], y: f32[3, 4]).
Status call(format::ModuleContents contents) {
  const Session session = *Session::create(test::load(std::move(contents)));
  return session.call(std::vector{rows(3), rows(3)}).status();
}

// The first word of the instruction with this opcode.
uint32_t* find_instruction(format::ModuleContents& contents, isa::Opcode opcode, int index = 0) {
  std::vector<uint32_t>& code = contents.functions[0].code;
  for (size_t at = 0; at < code.size(); at += isa::word_count(code[at]))
    if (isa::opcode(code[at]) == opcode && index-- == 0) return &code[at];
  return nullptr;
}

// With this grid, the kernel would write far beyond its result.
TEST(Launch, TheImageRejectsAnotherGrid) {
  format::ModuleContents contents = test::sum_contents();
  test::seal(contents);
  contents.launches[0].grid = isa::Int::immediate(1000000);
  ASSERT_TRUE(format::verify(contents).ok());
  const Result<Session> session = Session::create(*ModuleAccess::from_contents(contents));
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidModel);
  EXPECT_EQ(session.status().message(),
            "kernel image any: was compiled with other launches, kernels or shape functions than "
            "the module's tables contain");
}

TEST(Launch, AnImageWithoutAChecksumIsRejected) {
  format::ModuleContents contents = test::sum_contents();
  const std::string symbol = "scopevm_launch_checksum";
  std::string bytes(reinterpret_cast<const char*>(contents.images[0].bytes.data),
                    contents.images[0].bytes.size);
  for (size_t at = bytes.find(symbol); at != std::string::npos; at = bytes.find(symbol))
    bytes[at] = 'S';
  contents.images[0].bytes = format::aligned_copy(bytes.data(), bytes.size());
  const Result<Session> session = Session::create(*ModuleAccess::from_contents(contents));
  EXPECT_EQ(session.status().message(), "kernel image any: no checksum of the module's launches");
}

TEST(Launch, ChecksTheBytesOfBuffers) {
  // Word 4 of alloc_tensor is the number of bytes, and slot 3 is the number of rows.
  format::ModuleContents small_result = test::sum_contents();
  find_instruction(small_result, isa::Opcode::alloc_tensor)[4] = isa::Int::slot({3}).word();
  Status status = call(std::move(small_result));
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_EQ(status.message(),
            "main: pc 18: launch: kernel test_add: buffer 2 has 3 bytes, expected at least 48");

  // The second launch reads the factor, of 4 bytes, instead of the sum.
  format::ModuleContents small_operand = test::sum_contents();
  find_instruction(small_operand, isa::Opcode::launch, 1)[3] = 4;
  EXPECT_THAT(std::string(call(std::move(small_operand)).message()),
              HasSubstr("kernel test_scale: buffer 0 has 4 bytes, expected at least 48"));
}

// Dims in slots can be negative.
TEST(Launch, AShapeFunctionRejectsNegativeDims) {
  Result<format::ModuleContents> contents = format::assemble(R"(
    scopevm_module 0.15 producer "test"
    device "cpu" kind "cpu"
    pool "global" heap device 0 limit -1
    shape_function "test_count_down" slots 2 dims 1 {
    }
    function "main" registers 2 slots 3 {
      input "x" i64 ["1"]
      output "y" i64 ["1"]
      code {
        load_element dst=s2 %r0 index=0
        %r1 = alloc_view %r0 i64 [s2]
        shape_function @test_count_down (%r1)
        ret (%r0)
      }
    })");
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  contents->images = test::empty_contents().images;
  const Session session = *Session::create(test::load(*std::move(contents)));
  int64_t dim = -1;
  const Status status =
      session.call(std::vector{*Tensor::borrow(&dim, DType::kI64, std::vector<int64_t>{1})})
          .status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(std::string(status.message()), HasSubstr("input 0 has a negative dim"));
}

}  // namespace
}  // namespace scopevm

// Frame sizes. A frame has room for the dims of the inputs and of every tensor that an instruction
// writes, for the buffers of launches, and for the dims that shape functions read.
#include <gtest/gtest.h>

#include <string>

#include "tests/vm/modules/test_modules.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/verify/verify.h"
#include "vm/load/loaded_module.h"

namespace scopevm {
namespace {

// The frame layout of main(x: f32[1], xs: sequence of f32) with this code, which can call
// wide(a: f32[1]) -> b of rank 10. The type word 2571 is f32 of rank 10.
vm::FrameLayout layout_of(const std::string& code) {
  const std::string text =
      "scopevm_module 0.15 producer \"test\"\n"
      "device \"cpu\" kind \"cpu\"\n"
      "pool \"global\" heap device 0 limit -1\n"
      "pool \"global.constant\" constant device 0 limit -1\n"
      "kernel \"k\" buffers 3 params 0\n"
      "launch kernel 0 params s0 grid 1 grain 1 bytes [4, 4, 4] reads 3\n"
      "shape_function \"s\" slots 0 dims 1 {\n}\n"
      "function \"main\" registers 8 slots 2 {\n"
      "input \"x\" f32 [\"1\"]\ninput \"xs\" sequence f32 [\"...\"]\noutput \"y\" f32 [\"1\"]\n"
      "code {\n" +
      code +
      "ret (%r0)\n}\n}\n"
      "function \"wide\" registers 2 slots 0 {\n"
      "input \"a\" f32 [\"1\"]\n"
      "output \"b\" f32 [\"1\", \"1\", \"1\", \"1\", \"1\", \"1\", \"1\", \"1\", \"1\", \"1\"]\n"
      "code {\n%r1 = alloc_view %r0 f32 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\nret (%r1)\n}\n}\n"
      "constant \"c\" f32 [1, 1, 1, 1, 1, 1] pool 1 bytes 4 {\nAACAPw==\n}\n"
      "image devices [0] cpu \"x86-64\" features [] bytes 4 {\nAACAPw==\n}\n";
  Result<format::ModuleContents> contents = format::assemble(text, "test.sva");
  EXPECT_TRUE(contents.ok()) << contents.status().message();
  const Status verified = format::verify(*contents);
  EXPECT_TRUE(verified.ok()) << verified.message();
  return (*vm::LoadedModule::create(*std::move(contents)))->main().layout;
}

TEST(FrameLayout, StoresTheDimsOfEveryResult) {
  EXPECT_EQ(layout_of("").max_rank, 1U) << "the inputs";
  EXPECT_EQ(layout_of("%r2 = alloc_storage @global size=4\n"
                      "%r3 = alloc_tensor %r2 offset=0 bytes=4 f32 [1, 1, 1, 1]\n")
                .max_rank,
            4U);
  EXPECT_EQ(layout_of("%r2 = alloc_view %r0 f32 [1, 1, 1, 1, 1]\n").max_rank, 5U);
  EXPECT_EQ(layout_of("%r2 = load_const @c\n%r3 = move %r2\n").max_rank, 6U);
  EXPECT_EQ(layout_of("%r2 = list_get %r1 index=0 rank=7\n").max_rank, 7U);
  EXPECT_EQ(layout_of("%r2 = call @wide (%r0)\n").max_rank, 10U);
  EXPECT_EQ(layout_of("%r2 = make_closure @global @wide ()\n"
                      "%r3 = call_closure %r2 (%r0) [2571]\n")
                .max_rank,
            10U);
}

TEST(FrameLayout, GrowsWithTheRank) {
  const vm::FrameLayout narrow = layout_of("");
  const vm::FrameLayout wide = layout_of("%r2 = alloc_view %r0 f32 [1, 1, 1, 1, 1]\n");
  EXPECT_EQ(wide.slots_offset - narrow.slots_offset, size_t{8} * (5 - 1) * sizeof(int64_t));
}

TEST(FrameLayout, StoresBuffersAndShapeDims) {
  EXPECT_EQ(layout_of("").max_buffers, 0U);
  EXPECT_EQ(layout_of("launch @k (%r0, %r0, %r0)\n").max_buffers, 3U);
  EXPECT_EQ(layout_of("").max_shape_dims, 0U);
  EXPECT_EQ(layout_of("shape_function @s (%r0)\n").max_shape_dims, 2U) << "and the thread count";
}

}  // namespace
}  // namespace scopevm

// The rules of verify() for stack pools. It rejects references that can outlive the frame, frames
// over their limit, invalid stack pools, and constants and interface values in a frame. The modules
// are written in assembly.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "vm/format/assembly/assembler.h"
#include "vm/format/verify/verify.h"

namespace scopevm::format {
namespace {

// Functions that main can call. The parameter of @reads may be stored in a caller's frame. The
// parameter of @gives may not, because @gives returns it.
constexpr char kFunctions[] = R"(
function "reads" registers 3 slots 0 {
  input "a" f32 ["4"] pool 1
  output "y" f32 ["4"]
  code {
    %r1 = alloc_storage @global size=16
    %r2 = alloc_tensor %r1 offset=0 bytes=16 f32 [4]
    device_copy to=%r2 to_pool=@global from=%r0 from_pool=@global.stack
    ret (%r2)
  }
}
function "gives" registers 1 slots 0 {
  input "a" f32 ["4"]
  output "y" f32 ["4"]
  code {
    ret (%r0)
  }
}
)";

std::string module_text(const std::string& code, const std::string& pools,
                        const std::string& more) {
  return R"(scopevm_module 0.15 producer "t"
device "cpu" kind "cpu"
pool "global" heap device 0 limit -1
)" + pools +
         R"(
function "main" registers 8 slots 2 {
  input "x" f32 ["4"]
  output "y" f32 ["4"]
  code {
)" + code +
         "\n}\n}\n" + kFunctions + more;
}

const std::string kPools = "pool \"global.stack\" stack device 0 limit 128";

std::string error_of(const std::string& code, const std::string& pools = kPools,
                     const std::string& more = "") {
  Result<ModuleContents> module = assemble(module_text(code, pools, more), "t.sva");
  if (!module.ok()) return "assembler: " + std::string(module.status().message());
  return std::string(verify(*module).message());
}

// Allocates storage %r1 and its tensor %r2 in main's frame.
const std::string kOnStack =
    "%r1 = alloc_storage @global.stack size=16\n"
    "%r2 = alloc_tensor %r1 offset=0 bytes=16 f32 [4]\n";

constexpr char kOutlives[] = "a reference to it can outlive the frame";

TEST(VerifyStack, AcceptsValuesThatStayInTheFrame) {
  EXPECT_EQ(
      error_of(kOnStack + "device_copy to=%r2 to_pool=@global.stack from=%r0 from_pool=@global\n"
                          "%r3 = move %r2\n"
                          "%r4 = alloc_view %r3 f32 [2, 2]\n"
                          "kill %r3\n"
                          "%r5 = call @reads (%r2)\n"
                          "kill %r2\n"
                          "ret (%r5)"),
      "");
  EXPECT_EQ(error_of("%r1 = call @reads (%r0)\nret (%r1)"), "") << "others may be passed as well";
}

TEST(VerifyStack, RejectsReturnedFrameStorage) {
  EXPECT_EQ(error_of(kOnStack + "ret (%r2)"),
            "main: word 12: ret: register 2 may be stored in a frame, but a reference to it can "
            "outlive the frame");
  for (const char* way : {"%r3 = move %r2", "%r3 = alloc_view %r2 f32 [4]",
                          "%r3 = alloc_tensor %r1 offset=0 bytes=16 f32 [4]",
                          "%r4 = move %r1\n%r3 = alloc_tensor %r4 offset=0 bytes=16 f32 [4]"})
    EXPECT_NE(error_of(kOnStack + way + "\nret (%r3)").find(kOutlives), std::string::npos) << way;
}

// The returned register refers to main's frame on one path and to the result of a call on the
// other.
TEST(VerifyStack, OnePathSufficesForAnError) {
  const std::string code = kOnStack +
                           "%r4 = call @gives (%r0)\n"
                           "branch condition=s0 then_to=take else_to=end\n"
                           "take:\n"
                           "%r4 = move %r2\n"
                           "end:\n"
                           "ret (%r4)";
  EXPECT_NE(error_of(code).find("register 4 may be stored in a frame"), std::string::npos)
      << error_of(code);
  // In a loop, one iteration stores the reference and the next returns it.
  const std::string loop = kOnStack +
                           "%r4 = call @gives (%r0)\n"
                           "again:\n"
                           "%r5 = move %r4\n"
                           "%r4 = move %r2\n"
                           "branch condition=s0 then_to=again else_to=end\n"
                           "end:\n"
                           "ret (%r5)";
  EXPECT_NE(error_of(loop).find("register 5 may be stored in a frame"), std::string::npos)
      << error_of(loop);
}

TEST(VerifyStack, RejectsReturnedFrameParameters) {
  EXPECT_NE(error_of("ret (%r0)", kPools,
                     "function \"identity\" registers 2 slots 0 {\n"
                     "input \"a\" f32 [\"4\"] pool 1\noutput \"y\" f32 [\"4\"]\n"
                     "code {\n%r1 = alloc_view %r0 f32 [4]\nret (%r1)\n}\n}\n")
                .find("identity: word 6: ret: register 1 may be stored in a frame"),
            std::string::npos);
}

TEST(VerifyStack, RejectsFrameStorageForOtherParameters) {
  EXPECT_EQ(error_of(kOnStack + "%r3 = call @gives (%r2)\nret (%r3)"),
            "main: word 12: call: register 2 may be stored in a frame, but a reference to it can "
            "outlive the frame");
  // An intermediate function passes its parameter, which may be stored in a frame, to @gives.
  EXPECT_NE(error_of("ret (%r0)", kPools,
                     "function \"between\" registers 2 slots 0 {\n"
                     "input \"a\" f32 [\"4\"] pool 1\noutput \"y\" f32 [\"4\"]\n"
                     "code {\n%r1 = call @gives (%r0)\nret (%r1)\n}\n}\n")
                .find("between: word 0: call: register 0 may be stored in a frame"),
            std::string::npos);
}

TEST(VerifyStack, RejectsReferencesThatOutliveTheFrame) {
  for (const char* code : {
           "%r3 = make_list @global depth=1 f32 (%r2)\nret (%r0)",
           "%r3 = make_list @global depth=1 f32 ()\nlist_append list=%r3 @global element=%r2\nret "
           "(%r0)",
           "%r3 = make_list @global depth=1 f32 ()\n"
           "list_insert list=%r3 @global element=%r2 index=0\nret (%r0)",
           "%r3 = make_closure @global @gives (%r2)\nret (%r0)",
           "%r3 = make_closure @global @reads (%r2)\nret (%r0)",
           "%r3 = make_closure @global @reads ()\n%r4 = call_closure %r3 (%r2) [267]\nret (%r4)",
       })
    EXPECT_NE(error_of(kOnStack + code).find("register 2 may be stored in a frame"),
              std::string::npos)
        << code << ": " << error_of(kOnStack + code);
}

TEST(VerifyStack, RejectsListsAndDynamicStorages) {
  constexpr char kOwned[] = "pool \"global.stack\" is owned by the frame";
  for (const char* code : {"%r3 = make_list @global.stack depth=1 f32 (%r0)\nret (%r0)",
                           "%r3 = make_closure @global.stack @gives (%r0)\nret (%r0)",
                           "%r3 = alloc_storage @global size=16\n"
                           "grow_storage %r3 @global.stack used=0 needed=64\nret (%r0)"})
    EXPECT_NE(error_of(code).find(kOwned), std::string::npos) << code << ": " << error_of(code);
  EXPECT_NE(error_of(kOnStack + "grow_storage %r1 @global used=0 needed=64\nret (%r0)")
                .find("register 1 is not stored in pool \"global\""),
            std::string::npos);
  // On one path %r1 is a storage in the frame, on the other a storage on the heap.
  EXPECT_NE(error_of("branch condition=s0 then_to=a else_to=b\n"
                     "a:\n%r1 = alloc_storage @global.stack size=16\njump end\n"
                     "b:\n%r1 = alloc_storage @global size=16\n"
                     "end:\ngrow_storage %r1 @global used=0 needed=64\nret (%r0)")
                .find("register 1 holds incompatible values on different paths"),
            std::string::npos);
}

TEST(VerifyStack, RejectsFramesOverTheLimit) {
  EXPECT_EQ(error_of("%r1 = alloc_storage @global.stack size=64\n"
                     "%r2 = alloc_storage @global.stack size=64\nret (%r0)"),
            "");
  EXPECT_EQ(error_of("%r1 = alloc_storage @global.stack size=65\nret (%r0)"), "");
  EXPECT_EQ(error_of("%r1 = alloc_storage @global.stack size=129\nret (%r0)"),
            "main: word 0: alloc_storage: 192 bytes in pool \"global.stack\", the limit is 128 per "
            "frame");
  // The limit applies to the sum of all allocations of a function, even of those on alternative
  // paths. Each is rounded up to a multiple of 64 bytes.
  EXPECT_EQ(
      error_of("branch condition=s0 then_to=a else_to=b\n"
               "a:\n%r1 = alloc_storage @global.stack size=100\njump end\n"
               "b:\n%r1 = alloc_storage @global.stack size=1\n"
               "end:\nret (%r0)"),
      "main: word 10: alloc_storage: 192 bytes in pool \"global.stack\", the limit is 128 per "
      "frame");
  EXPECT_EQ(error_of("%r1 = alloc_storage @global.stack size=s0\nret (%r0)"),
            "main: word 0: alloc_storage: size must be an immediate for a stack pool, given a "
            "slot");
  // The rounded size does not fit in 32 signed bits. The sum of a function cannot overflow, because
  // the first allocation over the limit is rejected.
  EXPECT_NE(error_of("%r1 = alloc_storage @global.stack size=2147483647\nret (%r0)")
                .find("2147483648 bytes in pool"),
            std::string::npos);
}

TEST(VerifyStack, StackPoolsAreForCpusAndLimited) {
  const std::string stack = "pool \"global.stack\" stack device 0 limit ";
  EXPECT_EQ(error_of("ret (%r0)", stack + "0"), "");
  EXPECT_EQ(error_of("ret (%r0)", stack + "1048576"), "");
  EXPECT_EQ(error_of("ret (%r0)", stack + "1048577"),
            "pool 1: stack pool: limit is 1048577, expected 0 to 1048576");
  EXPECT_EQ(error_of("ret (%r0)", stack + "-1"),
            "pool 1: stack pool: limit is -1, expected 0 to 1048576");
  EXPECT_EQ(error_of("ret (%r0)", kPools + "\n" + stack + "64"),
            "pool 1: second stack pool of a device, expected at most one");
  EXPECT_EQ(error_of("ret (%r0)",
                     "device \"gpu\" kind \"opencl\" workers 64\n"
                     "pool \"global.stack\" stack device 1 limit 64"),
            "pool 1: stack pool of a non-CPU device");
}

TEST(VerifyStack, ConstantsAndValuesOfTheInterfaceAreNotStoredInAFrame) {
  const auto with = [](const std::function<void(ModuleContents&)>& change) {
    ModuleContents module = *assemble(module_text("ret (%r0)", kPools, ""), "t.sva");
    change(module);
    return std::string(verify(module).message());
  };
  EXPECT_EQ(
      with([](ModuleContents& m) { m.functions[0].inputs[0].pool = 1; }),
      "main: \"x\": stack pool: a value of the module's interface cannot be stored in a frame");
  EXPECT_EQ(with([](ModuleContents& m) { m.functions[0].outputs[0].pool = 1; }),
            "main: output \"y\": is stored in a frame that ends with the call");
  EXPECT_EQ(with([](ModuleContents& m) { m.functions[1].outputs[0].pool = 1; }),
            "reads: output \"y\": is stored in a frame that ends with the call");
  EXPECT_EQ(
      with([](ModuleContents& m) { m.functions[0].memory = {{1, "y", true, 0, 0, "16", false}}; }),
      "main: memory \"y\": stack pool: a result cannot be stored in a frame");
  EXPECT_EQ(with([](ModuleContents& m) {
              m.constants = {{"c", DType::kU8, {1}, 1, aligned_copy("c", 1)}};
            }),
            "constant 0 \"c\": stack pool: a constant cannot be stored in a frame");
}

}  // namespace
}  // namespace scopevm::format

// Closures in registers: calls, type errors and verification. The modules are written in assembly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/verify/verify.h"

namespace scopevm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The type word 267 is f32 of rank 1.
constexpr char kFunctions[] =
    "function \"first\" registers 2 slots 0 {\n"
    "input \"a\" f32 [\"1\"]\ninput \"b\" f32 [\"1\"]\noutput \"y\" f32 [\"1\"]\n"
    "code {\nret (%r0)\n}\n}\n"
    "function \"second\" registers 2 slots 0 {\n"
    "input \"a\" f32 [\"1\"]\ninput \"b\" f32 [\"1\"]\noutput \"y\" f32 [\"1\"]\n"
    "code {\nret (%r1)\n}\n}\n"
    "function \"of_matrix\" registers 2 slots 0 {\n"
    "input \"a\" f32 [\"1\"]\ninput \"b\" f32 [\"1\", \"1\"]\noutput \"y\" f32 [\"1\"]\n"
    "code {\nret (%r0)\n}\n}\n"
    "function \"apply\" registers 3 slots 0 {\n"
    "input \"f\" closure f32 []\ninput \"x\" f32 [\"1\"]\noutput \"y\" f32 [\"1\"]\n"
    "code {\n%r2 = call_closure %r0 (%r1) [267]\nret (%r2)\n}\n}\n"
    "function \"choose\" registers 3 slots 1 {\n"
    "input \"c\" bool []\ninput \"a\" f32 [\"1\"]\noutput \"f\" closure f32 []\n"
    "code {\n"
    "load_element dst=s0 %r0 index=0\n"
    "branch condition=s0 then_to=L0 else_to=L1\n"
    "L0:\n%r2 = make_closure @global @first (%r1)\njump L2\n"
    "L1:\n%r2 = make_closure @global @second (%r1)\n"
    "L2:\nret (%r2)\n}\n}\n"
    "function \"itself\" registers 2 slots 0 {\n"
    "input \"f\" closure f32 []\noutput \"y\" f32 [\"1\"]\n"
    "code {\n%r1 = call_closure %r0 (%r0) [267]\nret (%r1)\n}\n}\n";

// The assembly of a module with main(c: bool, a: f32[1], b: f32[1]) -> y: f32[1], `code` as the
// code of main, and kFunctions.
std::string module_of(const std::string& code) {
  return "scopevm_module 0.15 producer \"test\"\n"
         "device \"cpu\" kind \"cpu\"\n"
         "pool \"global\" heap device 0 limit -1\n"
         "function \"main\" registers 6 slots 2 {\n"
         "input \"c\" bool []\ninput \"a\" f32 [\"1\"]\ninput \"b\" f32 [\"1\"]\n"
         "output \"y\" f32 [\"1\"]\n"
         "code {\n" +
         code + "}\n}\n" + kFunctions;
}

format::ModuleContents contents_of(const std::string& code) {
  Result<format::ModuleContents> contents = format::assemble(module_of(code), "test.sva");
  EXPECT_TRUE(contents.ok()) << contents.status().message();
  return *std::move(contents);
}

Tensor scalar(float value) {
  const int64_t dims[] = {1};
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  tensor.elements<float>()[0] = value;
  return tensor;
}

// Makes a call with a = 1 and b = 2.
Result<std::vector<Tensor>> run(const Session& session, bool c) {
  Tensor condition = *Tensor::allocate(DType::kBool, {});
  *static_cast<uint8_t*>(condition.data()) = c ? 1 : 0;
  return session.call(std::vector{condition, scalar(1), scalar(2)});
}

void expect_no_live_bytes(const Session& session) {
  for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
}

float result_of(const std::string& code, bool c = true) {
  const Session session = *Session::create(test::load(contents_of(code)));
  float value = 0;
  {
    Result<std::vector<Tensor>> results = run(session, c);
    EXPECT_TRUE(results.ok()) << results.status().message();
    if (results.ok()) value = results->front().elements<float>()[0];
  }
  expect_no_live_bytes(session);
  return value;
}

std::string error_of(const std::string& code) {
  const Session session = *Session::create(test::load(contents_of(code)));
  Result<std::vector<Tensor>> results = run(session, true);
  EXPECT_FALSE(results.ok());
  expect_no_live_bytes(session);
  return std::string(results.status().message());
}

TEST(Closure, CallsItsFunctionWithCapturedValues) {
  EXPECT_EQ(result_of("%r3 = make_closure @global @first (%r1)\n"
                      "%r4 = call_closure %r3 (%r2) [267]\nret (%r4)\n"),
            1);
  EXPECT_EQ(result_of("%r3 = make_closure @global @second (%r1)\n"
                      "%r4 = call_closure %r3 (%r2) [267]\nret (%r4)\n"),
            2);
  EXPECT_EQ(result_of("%r3 = make_closure @global @second (%r1, %r2)\n"
                      "%r4 = call_closure %r3 () [267]\nret (%r4)\n"),
            2);
  EXPECT_EQ(result_of("%r3 = make_closure @global @first ()\n"
                      "%r4 = call_closure %r3 (%r2, %r1) [267]\nret (%r4)\n"),
            2);
}

TEST(Closure, PassesThroughCallsMovesAndBranches) {
  const std::string code =
      "%r3 = call @choose (%r0, %r1)\n"
      "%r4 = move %r3\n"
      "kill %r3\n"
      "%r5 = call @apply (%r4, %r2)\n"
      "kill %r4\n"
      "ret (%r5)\n";
  EXPECT_EQ(result_of(code, true), 1);
  EXPECT_EQ(result_of(code, false), 2);
}

TEST(Closure, MoveToTheSameRegisterKeepsTheValue) {
  EXPECT_EQ(result_of("%r3 = make_closure @global @second (%r1)\n"
                      "%r3 = move %r3\n"
                      "%r4 = call_closure %r3 (%r2) [267]\nret (%r4)\n"),
            2);
}

TEST(Closure, KeepsAStorageAlive) {
  EXPECT_EQ(result_of("%r3 = alloc_storage @global size=4\n"
                      "%r4 = alloc_tensor %r3 offset=0 bytes=4 f32 [1]\n"
                      "kill %r3\n"
                      "%r3 = make_closure @global @second (%r4)\n"
                      "kill %r4\n"
                      "%r4 = call_closure %r3 (%r2) [267]\n"
                      "kill %r3\n"
                      "ret (%r4)\n"),
            2);
}

TEST(Closure, TypeMismatchFailsTheCall) {
  const std::string what = "do not match the signature of ";
  EXPECT_THAT(error_of("%r3 = make_closure @global @of_matrix (%r1)\n"
                       "%r4 = call_closure %r3 (%r2) [267]\nret (%r4)\n"),
              HasSubstr(what + "\"of_matrix\""));
  EXPECT_THAT(error_of("%r3 = make_closure @global @first (%r1)\n"
                       "%r4 = call_closure %r3 (%r2, %r2) [267]\nret (%r4)\n"),
              HasSubstr(what + "\"first\""));
  EXPECT_THAT(error_of("%r3 = make_closure @global @first (%r1)\n"
                       "%r4 = call_closure %r3 (%r3) [267]\nret (%r4)\n"),
              HasSubstr(what + "\"first\""));
  EXPECT_THAT(error_of("%r3 = make_closure @global @apply ()\n"
                       "%r4 = call_closure %r3 (%r2, %r2) [267]\nret (%r4)\n"),
              HasSubstr(what + "\"apply\""));
  EXPECT_THAT(error_of("%r3 = make_closure @global @choose ()\n"
                       "%r4 = call_closure %r3 (%r0, %r1) [267]\nret (%r4)\n"),
              HasSubstr(what + "\"choose\""));
  // Type word 268 is f64 of rank 1, but @first returns f32.
  EXPECT_THAT(error_of("%r3 = make_closure @global @first (%r1)\n"
                       "%r4 = call_closure %r3 (%r2) [268]\nret (%r2)\n"),
              HasSubstr(what + "\"first\""));
}

TEST(Closure, RecursionEndsAtTheLimit) {
  EXPECT_THAT(error_of("%r3 = make_closure @global @itself ()\n"
                       "%r4 = call_closure %r3 (%r3) [267]\nret (%r4)\n"),
              HasSubstr("main > itself > itself > itself > ... (1018 more) > itself > itself: more "
                        "than 1024 nested calls"));
}

TEST(Closure, AssemblyRoundTrips) {
  const format::ModuleContents contents =
      contents_of("%r3 = call @choose (%r0, %r1)\n%r4 = call @apply (%r3, %r2)\nret (%r4)\n");
  const std::string text = format::disassemble(contents);
  EXPECT_THAT(text, HasSubstr("%r2 = make_closure @global @first (%r1)"));
  EXPECT_THAT(text, HasSubstr("%r2 = call_closure %r0 (%r1) [267]"));
  Result<format::ModuleContents> again = format::assemble(text, "again.sva");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(format::disassemble(*again), text);
}

// --- Modules that verification rejects. ---------------------------------------------------------

std::string verifier_error(const std::string& code) {
  return std::string(format::verify(contents_of(code)).message());
}

TEST(Closure, VerifierRejectsInvalidUses) {
  EXPECT_THAT(verifier_error("%r3 = call_closure %r1 (%r2) [267]\nret (%r3)\n"),
              HasSubstr("call_closure: register 1 holds a tensor, expected a closure"));
  EXPECT_THAT(verifier_error("%r3 = call_closure %r4 (%r2) [267]\nret (%r3)\n"),
              HasSubstr("call_closure: register 4 is empty, expected a closure"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1, %r1, %r1)\nret (%r1)\n"),
              HasSubstr("make_closure: 3 captured values, but \"first\" has 2 inputs"));
  EXPECT_THAT(
      verifier_error("%r3 = make_closure @global @first (%r0)\nret (%r1)\n"),
      HasSubstr("make_closure: register 0 holds bool of rank 0, expected f32 of rank 1 for \"a\""));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\n"
                             "%r4 = make_closure @global @apply (%r3)\nret (%r1)\n"),
              HasSubstr("make_closure: captured input \"f\" must be a tensor, given closure"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\nret (%r3)\n"),
              HasSubstr("ret: register 3 holds a closure, expected a tensor"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\n"
                             "load_dim dst=s0 %r3 axis=0\nret (%r1)\n"),
              HasSubstr("load_dim: register 3 holds a closure, expected a tensor"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\n"
                             "%r4 = make_list @global depth=1 f32 (%r3)\nret (%r1)\n"),
              HasSubstr("make_list: register 3 holds a closure, expected a tensor"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\n"
                             "list_size dst=s0 %r3\nret (%r1)\n"),
              HasSubstr("list_size: register 3 holds a closure, expected a list"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\n"
                             "%r4 = alloc_storage @global size=4\n"
                             "%r5 = call_closure %r3 (%r4) [267]\nret (%r5)\n"),
              HasSubstr("call_closure: register 4 holds a storage, expected a tensor"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\n"
                             "%r5 = call_closure %r3 (%r2) []\nret (%r1)\n"),
              HasSubstr("call_closure: the number of results is 1, expected 0"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\n"
                             "%r5 = call_closure %r3 (%r2) [131072]\nret (%r1)\n"),
              HasSubstr("call_closure: types: invalid type 131072"));
  EXPECT_THAT(verifier_error("%r3 = make_closure @global @first (%r1)\n"
                             "%r5 = call_closure %r3 (%r2) [65536]\nret (%r5)\n"),
              HasSubstr("ret: register 5 holds a closure, expected a tensor"));
  EXPECT_THAT(verifier_error("branch condition=s0 then_to=L0 else_to=L1\n"
                             "L0:\n%r3 = make_closure @global @first (%r1)\njump L2\n"
                             "L1:\n%r3 = move %r1\n"
                             "L2:\n%r4 = call_closure %r3 (%r2) [267]\nret (%r4)\n"),
              HasSubstr("call_closure: register 3 holds incompatible values on different paths"));
}

TEST(Closure, MainHasNoClosureParametersOrResults) {
  for (bool is_input : {true, false}) {
    format::ModuleContents contents = contents_of("ret (%r1)\n");
    format::FunctionDecl& main = contents.functions[0];
    (is_input ? main.inputs : main.outputs)[0].kind = ValueKind::kClosure;
    EXPECT_THAT(std::string(format::verify(contents).message()),
                HasSubstr("a closure cannot cross the interface of the module"));
  }
}

TEST(Closure, FunctionWithAListParameterIsRejected) {
  format::ModuleContents contents =
      contents_of("%r3 = make_closure @global @first (%r1)\nret (%r1)\n");
  contents.functions[1].inputs[1].kind = ValueKind::kSequence;
  EXPECT_THAT(std::string(format::verify(contents).message()),
              HasSubstr("make_closure: \"b\" is a list"));
}

}  // namespace
}  // namespace scopevm

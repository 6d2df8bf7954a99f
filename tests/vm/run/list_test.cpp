// Lists in registers, inputs and results. The modules are written in assembly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/format/assembly/assembler.h"

namespace scopevm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A session of a module whose main has these declarations and this code.
Session session_of(const std::string& declarations, const std::string& code,
                   const std::string& more_functions = "") {
  const std::string text =
      "scopevm_module 0.15 producer \"test\"\n"
      "device \"cpu\" kind \"cpu\"\n"
      "pool \"global\" heap device 0 limit -1\n"
      "message \"wrong\"\n"
      "function \"main\" registers 8 slots 4 {\n" +
      declarations + "code {\n" + code + "}\n}\n" + more_functions;
  Result<format::ModuleContents> contents = format::assemble(text, "test.sva");
  EXPECT_TRUE(contents.ok()) << contents.status().message();
  return *Session::create(test::load(*std::move(contents)));
}

Tensor row_of(const std::vector<float>& values) {
  const int64_t dims[] = {static_cast<int64_t>(values.size())};
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  std::copy(values.begin(), values.end(), tensor.elements<float>().begin());
  return tensor;
}

// The first element of each tensor of a result.
std::vector<float> firsts(const Call& call, size_t output = 0) {
  std::vector<float> values;
  const auto elements = call.elements(output);
  for (const Tensor& element : *elements) values.push_back(element.elements<float>()[0]);
  return values;
}

const ScopeUse& global(const Call& call) { return call.stats().memory.front(); }

constexpr char kSequences[] =
    "input \"xs\" sequence f32 [\"?\"]\n"
    "input \"x\" f32 [\"1\"]\n"
    "output \"ys\" sequence f32 [\"?\"]\n";

// Runs code with %r0 = a sequence and %r1 = the tensor (9). The first elements of the sequence's
// tensors are 1, 2 and 3. Returns the first element of each tensor of the result.
std::vector<float> run_over_three(const std::string& code) {
  Call call = *session_of(kSequences, code).make_call();
  EXPECT_TRUE(call.set_sequence("xs", {row_of({1}), row_of({2, 0}), row_of({3})}).ok());
  EXPECT_TRUE(call.set_input("x", row_of({9})).ok());
  const Status status = call.run();
  EXPECT_TRUE(status.ok()) << status.message();
  return status.ok() ? firsts(call) : std::vector<float>();
}

TEST(List, InsertsAndErasesAnywhere) {
  EXPECT_THAT(run_over_three("ret (%r0)\n"), ElementsAre(1, 2, 3));
  EXPECT_THAT(run_over_three("list_append list=%r0 @global element=%r1\nret (%r0)\n"),
              ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(run_over_three("list_insert list=%r0 @global element=%r1 index=0\nret (%r0)\n"),
              ElementsAre(9, 1, 2, 3));
  EXPECT_THAT(run_over_three("list_insert list=%r0 @global element=%r1 index=3\nret (%r0)\n"),
              ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(run_over_three("set_slot dst=s0 value=0\nset_slot dst=s1 value=0\n"
                             "list_erase %r0 @global index=1\nret (%r0)\n"),
              ElementsAre(1, 3));
  EXPECT_THAT(run_over_three("%r2 = list_get %r0 index=2 rank=1\n"
                             "%r3 = make_list @global depth=1 f32 (%r2, %r1, %r2)\n"
                             "ret (%r3)\n"),
              ElementsAre(3, 9, 3));
}

TEST(List, NegativeIndexCountsFromTheEnd) {
  Call call =
      *session_of(
           "input \"xs\" sequence f32 [\"?\"]\ninput \"i\" i64 []\n"
           "output \"y\" f32 [\"m\"]\n",
           "load_element dst=s0 %r1 index=0\n%r2 = list_get %r0 index=s0 rank=1\nret (%r2)\n")
           .make_call();
  ASSERT_TRUE(call.set_sequence("xs", {row_of({1}), row_of({2, 0}), row_of({3})}).ok());
  Tensor index = *Tensor::allocate(DType::kI64, {});
  ASSERT_TRUE(call.set_input("i", index).ok());
  for (const auto& [given, expected] :
       std::vector<std::pair<int64_t, float>>{{0, 1.F}, {2, 3.F}, {-1, 3.F}, {-3, 1.F}}) {
    index.elements<int64_t>()[0] = given;
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(call.outputs()[0].elements<float>()[0], expected);
  }
  for (const int64_t given : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    index.elements<int64_t>()[0] = given;
    const Status status = call.run();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr("index " + std::to_string(given) + " is out of range for a list of 3 elements"));
  }
}

TEST(List, SharedListIsCopiedOnWrite) {
  EXPECT_THAT(run_over_three("%r2 = move %r0\n"
                             "list_append list=%r0 @global element=%r1\n"
                             "list_erase %r0 @global index=0\n"
                             "ret (%r2)\n"),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(run_over_three("%r2 = move %r0\n"
                             "list_append list=%r2 @global element=%r1\n"
                             "ret (%r2)\n"),
              ElementsAre(1, 2, 3, 9));
}

// The elements of a sequence may have different ranks.
TEST(List, ElementsOfManyRanks) {
  Call call = *session_of(
                   "input \"xs\" sequence f32 [\"...\"]\ninput \"x\" f32 [\"2\", \"1\"]\n"
                   "output \"ys\" sequence f32 [\"...\"]\noutput \"y\" f32 [\"m\"]\n",
                   "list_append list=%r0 @global element=%r1\n"
                   "%r2 = list_get %r0 index=0 rank=1\nret (%r0, %r2)\n")
                   .make_call();
  ASSERT_TRUE(call.set_input("x", *Tensor::allocate(DType::kF32, {2, 1})).ok());
  ASSERT_TRUE(call.set_sequence("xs", {row_of({1, 2})}).ok());
  Status status = call.run();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT((*call.elements(0))[0].dims(), ElementsAre(2));
  EXPECT_THAT((*call.elements(0))[1].dims(), ElementsAre(2, 1));
  EXPECT_THAT(call.outputs()[1].elements<float>(), ElementsAre(1, 2));
  ASSERT_TRUE(call.set_sequence("xs", {*Tensor::allocate(DType::kF32, {2, 1, 3})}).ok());
  status = call.run();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("element 0 has rank 3, expected rank 1"));
}

TEST(List, ArgumentsAndResultsOfCalls) {
  const std::string callee =
      "function \"drop\" registers 2 slots 1 {\n"
      "input \"xs\" sequence f32 [\"?\"]\noutput \"ys\" sequence f32 [\"?\"]\n"
      "code {\nlist_erase %r0 @global index=0\nret (%r0)\n}\n}\n";
  Call call = *session_of(std::string(kSequences) + "output \"zs\" sequence f32 [\"?\"]\n",
                          "%r2 = call @drop (%r0)\nret (%r0, %r2)\n", callee)
                   .make_call();
  ASSERT_TRUE(call.set_sequence("xs", {row_of({1}), row_of({2})}).ok());
  ASSERT_TRUE(call.set_input("x", row_of({9})).ok());
  for (int round = 0; round < 3; ++round) {
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(firsts(call, 0), ElementsAre(1, 2));
    EXPECT_THAT(firsts(call, 1), ElementsAre(2));
  }
}

// Appends 1000 tensors to a list, checks its size and returns it.
constexpr char kAppendLoop[] =
    "%r1 = make_list @global depth=1 f32 ()\n"
    "set_slot dst=s0 value=0\n"
    "again:\n"
    "%r2 = alloc_storage @global size=400\n"
    "%r3 = alloc_tensor %r2 offset=0 bytes=400 f32 [100]\n"
    "list_append list=%r1 @global element=%r3\n"
    "add_slot dst=s0 by=1\n"
    "branch_less a=s0 b=1000 then_to=again else_to=done\n"
    "done:\n"
    "list_size dst=s1 %r1\n"
    "branch_less a=s1 b=1000 then_to=bad else_to=good\n"
    "bad:\n"
    "fail @wrong\n"
    "good:\n"
    "ret (%r1)\n";

// The call allocates one storage per element, and fewer than 12 storages for the list, which grows
// geometrically.
TEST(List, AppendingLoopCopiesNoElements) {
  const Session session =
      session_of("input \"x\" f32 [\"1\"]\noutput \"ys\" sequence f32 [\"100\"]\n", kAppendLoop);
  {
    Call call = *session.make_call();
    ASSERT_TRUE(call.set_input("x", row_of({9})).ok());
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(call.elements(0)->size(), 1000U);
    EXPECT_LT(global(call).allocations, 1000 + 12);
    EXPECT_GE(global(call).allocations, 1000);
    EXPECT_LT(global(call).peak_bytes, 1000 * 400 + 3 * 1000 * 48);
    // The results share the element storages of the call; elements are not copied.
    EXPECT_LE((*session.memory_stats())[0].memory.live_bytes, 1000 * 400);
  }
  EXPECT_EQ((*session.memory_stats())[0].memory.live_bytes, 0);
}

TEST(List, ElementsAreReleasedWithTheirList) {
  std::string code = kAppendLoop;
  code.replace(code.find("ret (%r1)"), 9, "kill %r1\nkill %r2\nkill %r3\nret (%r0)");
  const Session session = session_of("input \"x\" f32 [\"1\"]\noutput \"y\" f32 [\"1\"]\n", code);
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input("x", row_of({9})).ok());
  const Status status = call.run();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ((*session.memory_stats())[0].memory.live_bytes, 4);  // the copy of x
}

TEST(List, OptionalsMayHaveNoValue) {
  const char* declarations =
      "input \"a\" optional f32 [\"?\"]\ninput \"b\" optional_sequence f32 [\"?\"]\n"
      "output \"a\" optional f32 [\"?\"]\noutput \"b\" optional_sequence f32 [\"?\"]\n";
  Call call = *session_of(declarations, "ret (%r0, %r1)\n").make_call();
  ASSERT_TRUE(call.set_no_value("a").ok());
  ASSERT_TRUE(call.set_no_value("b").ok());
  ASSERT_TRUE(call.run().ok());
  for (const size_t output : {0, 1}) {
    EXPECT_FALSE(*call.has_value(output));
    EXPECT_TRUE(call.elements(output)->empty());
  }
  ASSERT_TRUE(call.set_input("a", row_of({5})).ok());
  ASSERT_TRUE(call.set_sequence("b", {}).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_THAT(firsts(call, 0), ElementsAre(5));
  EXPECT_TRUE(*call.has_value(1));
  EXPECT_TRUE(call.elements(1)->empty());
  ASSERT_TRUE(call.set_sequence("b", {row_of({6}), row_of({7})}).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_THAT(firsts(call, 1), ElementsAre(6, 7));
}

TEST(List, InputsOfAnotherKindAreRejected) {
  Call call = *session_of(
                   "input \"xs\" sequence f32 [\"?\", \"4\"]\ninput \"x\" f32 [\"1\"]\n"
                   "input \"o\" optional f32 [\"1\"]\noutput \"ys\" sequence f32 [\"?\", \"4\"]\n",
                   "ret (%r0)\n")
                   .make_call();
  auto expect = [](const Status& status, const std::string& message) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message()), message);
  };
  Tensor good = *Tensor::allocate(DType::kF32, {2, 4});
  expect(call.set_input("xs", good), "input \"xs\": expected a sequence, given a tensor");
  expect(call.set_sequence("x", {row_of({1})}),
         "input \"x\": expected a tensor f32[1], given a sequence");
  expect(call.set_no_value("xs"), "input \"xs\": expected sequence of f32[?, 4], given no value");
  expect(call.set_sequence("o", {row_of({1})}),
         "input \"o\": expected optional of f32[1], given a sequence");
  expect(call.set_sequence("xs", {good, row_of({1})}),
         "input \"xs\": wrong rank: expected sequence of f32[?, 4], given f32[1]");
  expect(call.set_sequence("xs", {good, *Tensor::allocate(DType::kF32, {2, 5})}),
         "input \"xs\": wrong dim 1: expected sequence of f32[?, 4], given f32[2, 5]");
  expect(call.set_sequence("xs", {*Tensor::allocate(DType::kI32, {2, 4})}),
         "input \"xs\": wrong element type: expected sequence of f32[?, 4], given i32[2, 4]");
  ASSERT_TRUE(call.set_input("x", row_of({1})).ok());
  ASSERT_TRUE(call.set_no_value("o").ok());
  expect(call.run(), "missing input \"xs\": expected sequence of f32[?, 4]");
  expect(call.set_output("ys", good),
         "output \"ys\": a sequence cannot be stored in a buffer; read its elements after "
         "each run");
  EXPECT_EQ(call.set_sequence("zs", {}).code(), StatusCode::kNotFound);
  EXPECT_EQ(call.elements(0).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace scopevm

// Strings in the VM, with hand-written modules: results, invalid ids and counts, memory limits and
// failed allocations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/memory/pool/pool_allocator.h"
#include "scopevm/session.h"
#include "tests/runtime/memory/failing_allocator.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint16_t kAllocView = 18, kStringToNumber = 40, kNumberToString = 41, kChangeCase = 42,
                   kConcatStrings = 43, kCountPieces = 44, kSplitStrings = 45, kMatchStrings = 46;

Tensor strings(const std::vector<std::string_view>& elements) {
  return *Tensor::from_strings(elements,
                               std::vector<int64_t>{static_cast<int64_t>(elements.size())});
}

// The status of a call that returns a view of x: i32[2] as strings, with `ids` as the elements of
// x. If `are_changed`, a change_case instruction reads the ids first.
Status status_of_ids(const std::vector<int32_t>& ids, bool are_changed) {
  test::CodeWriter code;
  code.add(kAllocView, {2, 0, static_cast<uint32_t>(DType::kStr), 1, 2});
  if (are_changed) {
    code.alloc_storage(1, 0, 8).alloc_tensor(3, 1, 0, 8, DType::kStr, {2});
    code.add(kChangeCase, {3, 2, 0});
  }
  const Session session = *Session::create(test::load(test::strings_contents(DType::kI32, code)));
  Tensor x = *Tensor::allocate(DType::kI32, {2});
  std::ranges::copy(ids, x.elements<int32_t>().begin());
  return session.call(std::vector{x}).status();
}

TEST(Strings, NeedNoKernel) {
  const Session session = *Session::create(test::load(test::upper_contents()));
  const std::vector<Tensor> results = *session.call(std::vector{strings({"one", "two"})});
  EXPECT_EQ(results[0].string_at(0), "ONE");
  EXPECT_EQ(results[0].string_at(1), "TWO");
  EXPECT_EQ(results[0].dtype(), DType::kStr);
}

TEST(Strings, InvalidIdsAreDetected) {
  EXPECT_TRUE(status_of_ids({1, 0}, false).ok());
  for (const bool are_changed : {false, true})
    for (const int32_t id : {2, 1000, -1, INT32_MIN, INT32_MAX}) {
      const Status status = status_of_ids({1, id}, are_changed);
      EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("element 1: invalid string id " + std::to_string(id)));
    }
}

TEST(Strings, CountsMustAgree) {
  for (const uint16_t opcode : {kStringToNumber, kNumberToString}) {
    const DType from = opcode == kStringToNumber ? DType::kStr : DType::kF64;
    const DType to = opcode == kStringToNumber ? DType::kF64 : DType::kStr;
    test::CodeWriter code;
    code.alloc_storage(1, 0, 64).alloc_tensor(3, 1, 0, 64, to, {3}).add(opcode, {3, 0});
    code.alloc_storage(1, 0, 8).alloc_tensor(2, 1, 0, 8, DType::kStr, {2});
    const Session session = *Session::create(test::load(test::strings_contents(from, code)));
    const Tensor x = from == DType::kStr ? strings({"1", "2"}) : *Tensor::allocate(from, {2});
    const Status status = session.call(std::vector{x}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
    EXPECT_THAT(std::string(status.message()), HasSubstr("2 elements, but the result has"));
  }
}

std::vector<std::string> strings_of(const Tensor& tensor) {
  std::vector<std::string> elements;
  for (int64_t i = 0; i < tensor.element_count(); ++i) elements.emplace_back(tensor.string_at(i));
  return elements;
}

// Runs an instruction with operands in registers 0 and 1: vectors a and b. Its result, in register
// 2, has `count` elements. Other operands follow.
Result<Tensor> result_of(uint16_t opcode, const Tensor& a, const Tensor& b, DType dtype,
                         uint32_t count, std::optional<uint32_t> number = {}) {
  const auto bytes = static_cast<uint32_t>(count * byte_size(dtype));
  test::CodeWriter code;
  code.alloc_storage(3, 0, 64).alloc_tensor(2, 3, 0, bytes, dtype, {count});
  if (number)
    code.add(opcode, {2, 0, 1, *number});
  else
    code.add(opcode, {2, 0, 1});
  format::ModuleContents contents = test::strings_contents(DType::kStr, code);
  contents.functions[0].inputs = {{"a", a.dtype(), {std::to_string(a.element_count())}},
                                  {"b", b.dtype(), {std::to_string(b.element_count())}}};
  contents.functions[0].outputs = {{"y", dtype, {std::to_string(count)}}};
  const Session session = *Session::create(test::load(contents));
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<Tensor> results, session.call(std::vector{a, b}));
  return results[0];
}

TEST(Strings, AreConcatenated) {
  const std::string large(5000, 'x');
  const Tensor y = *result_of(kConcatStrings, strings({"ab", large, ""}), strings({"", large, ""}),
                              DType::kStr, 3);
  EXPECT_THAT(strings_of(y), ElementsAre("ab", large + large, ""));
  const Status status =
      result_of(kConcatStrings, strings({"a"}), strings({"a", "b"}), DType::kStr, 1).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(std::string(status.message()), HasSubstr("2 elements, but the result has 1"));
}

TEST(Strings, PiecesAreCountedInEachElementType) {
  const Tensor x = strings({"a b c", ""});
  for (const DType dtype : {DType::kI64, DType::kU8, DType::kI16, DType::kI32}) {
    const Tensor y = *result_of(kCountPieces, x, strings({""}), dtype, 2, 7);
    EXPECT_EQ(static_cast<const char*>(y.data())[0], 3);
    EXPECT_EQ(static_cast<const char*>(y.data())[byte_size(dtype)], 0);
  }
}

TEST(Strings, PiecesFillTheResult) {
  const Tensor x = strings({"a,b,c", "d"});
  const auto split = [&](uint32_t count) {
    return strings_of(*result_of(kSplitStrings, x, strings({","}), DType::kStr, count, 7));
  };
  EXPECT_THAT(split(6), ElementsAre("a", "b", "c", "d", "", ""));
  // Further pieces are ignored, and further elements of the result are empty.
  EXPECT_THAT(split(2), ElementsAre("a", "d"));
  EXPECT_THAT(split(5), ElementsAre("a", "b", "d", "", ""));
  EXPECT_THAT(split(1), ElementsAre(""));
}

TEST(Strings, TheDelimiterIsOneString) {
  for (const uint16_t opcode : {kCountPieces, kSplitStrings}) {
    const DType dtype = opcode == kCountPieces ? DType::kI32 : DType::kStr;
    const Tensor x = strings({"a", "b"});
    const Status status = result_of(opcode, x, x, dtype, 2, 1).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
    EXPECT_THAT(std::string(status.message()), HasSubstr("the delimiter is not one string"));
  }
}

// Whether the automaton accepts "a" and "bb". Bytes have the column `column`, and `rest` follows
// the columns of the bytes.
Result<Tensor> matches(const std::vector<int32_t>& rest, int32_t column = 1) {
  Tensor automaton = *Tensor::allocate(DType::kI32, {static_cast<int64_t>(256 + rest.size())});
  std::ranges::fill(automaton.elements<int32_t>(), column);
  std::ranges::copy(rest, automaton.elements<int32_t>().begin() + 256);
  return result_of(kMatchStrings, strings({"a", "bb"}), automaton, DType::kBool, 2);
}

TEST(Strings, AreMatched) {
  // One byte: state 1 accepts.
  const Tensor y = *matches({2, 0, 1, 1, -1});
  EXPECT_THAT(y.elements<uint8_t>(), ElementsAre(1, 0));
}

TEST(Strings, IndicesOfAutomataAreChecked) {
  constexpr int32_t kMost = INT32_MAX, kLeast = INT32_MIN;
  const std::vector<std::vector<int32_t>> invalid = {{},
                                                     {2},
                                                     {2, 0},
                                                     {2, 0, 1},
                                                     {2, 0, 2, 1, -1},
                                                     {kMost, 0, 1},
                                                     {kLeast, 0, 1},
                                                     {2, 0, kMost, 1, 0},
                                                     {kMost, 0, kMost},
                                                     {-300, 0, 1}};
  for (const std::vector<int32_t>& rest : invalid) {
    const Status status = matches(rest).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidModel) << rest.size();
    EXPECT_THAT(std::string(status.message()), HasSubstr("the automaton is invalid"));
  }
  for (const int32_t column : {kMost, kLeast, -300, 5})
    EXPECT_FALSE(matches({2, 0, 1, 1, -1}, column).ok()) << column;
  // Elements of another type.
  EXPECT_FALSE(result_of(kMatchStrings, strings({"a"}), *Tensor::allocate(DType::kI64, {300}),
                         DType::kBool, 1)
                   .ok());
}

TEST(Strings, OutputBufferIsRejected) {
  const Session session = *Session::create(test::load(test::upper_contents()));
  Call call = *session.make_call();
  EXPECT_THAT(std::string(call.set_output("y", strings({"a", "b"})).message()),
              HasSubstr("output \"y\": a buffer cannot hold strings"));
  EXPECT_TRUE(call.set_output("y", Tensor()).ok());
}

TEST(Strings, CountAgainstTheLimit) {
  const Session session = *Session::create(test::load(test::upper_contents()),
                                           {.memory_limits = {{"global", 1 << 20}}});
  const std::string large(600000, 'x');
  const Status status = session.call(std::vector{strings({large, "y"})}).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceLimit);
  EXPECT_THAT(std::string(status.message()), HasSubstr("strings: cpu global: "));
  EXPECT_TRUE(session.call(std::vector{strings({"x", "y"})}).ok());
  for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
}

TEST(Strings, InSequencesAndOptionals) {
  const Session session = *Session::create(test::load(test::sequence_contents(DType::kStr)));
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_sequence("xs", {strings({"a", ""}), strings({}), strings({"b"})}).ok());
  ASSERT_TRUE(call.set_input("o", strings({"b", "a"})).ok());
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(call.run().ok());
    const std::span<const Tensor> xs = *call.elements("xs");
    ASSERT_EQ(xs.size(), 3U);
    EXPECT_THAT(strings_of(xs[0]), ElementsAre("a", ""));
    EXPECT_THAT(strings_of(xs[1]), ElementsAre());
    EXPECT_THAT(strings_of(xs[2]), ElementsAre("b"));
    EXPECT_THAT(strings_of((*call.elements("o"))[0]), ElementsAre("b", "a"));
  }
  ASSERT_TRUE(call.set_no_value("o").ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_FALSE(*call.has_value(1));
}

TEST(Strings, MissingHeapPoolFailsTheCall) {
  format::ModuleContents contents = test::sequence_contents(DType::kStr);
  contents.functions[0].inputs = {{"x", DType::kStr, {"2"}}};
  contents.functions[0].outputs = contents.functions[0].inputs;
  test::CodeWriter code;
  contents.functions[0].code = code.ret({0}).take();
  contents.pools = {{"global.workspace", format::PoolKind::kArena, 0, -1}};
  const Session session = *Session::create(test::load(contents));
  const Status status = session.call(std::vector{strings({"a", "b"})}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the module has no heap pool for strings"));
  contents.functions[0].inputs[0].dtype = contents.functions[0].outputs[0].dtype = DType::kF32;
  const Session copying = *Session::create(test::load(contents));
  EXPECT_THAT(
      std::string(
          copying.call(std::vector{*Tensor::allocate(DType::kF32, {2})}).status().message()),
      HasSubstr("output \"x\": the module has no heap pool for a copy"));
}

TEST(Strings, EveryAllocationMayFail) {
  auto heap =
      std::make_shared<runtime::FailingAllocator>(std::make_shared<runtime::PoolAllocator>());
  const Session session =
      *Session::create(test::load(test::upper_contents()), {.allocators = {{"global", heap}}});
  const std::string large(5000, 'x');
  const std::vector<Tensor> inputs = {strings({large, "y"})};
  int64_t failures = 0;
  for (bool has_failed = true; has_failed; ++failures) {
    heap->fail_at(failures + 1);
    const Status status = session.call(inputs).status();
    has_failed = !status.ok();
    if (has_failed) EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_EQ(heap->stats().live_bytes, 0) << failures;
  }
  EXPECT_GT(failures, 5);
  heap->fail_at(0);
  EXPECT_TRUE(session.call(inputs).ok());
}

}  // namespace
}  // namespace scopevm

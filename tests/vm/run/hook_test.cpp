// Execution hooks: what they see, how they end a run, and that a run with one has the same results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scopevm/execution_hook.h"
#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

class FunctionHook final : public ExecutionHook {
 public:
  explicit FunctionHook(std::function<bool(const ExecutionState&)> function)
      : function_(std::move(function)) {}
  bool at(const ExecutionState& state) override { return function_(state); }

 private:
  std::function<bool(const ExecutionState&)> function_;
};

Tensor filled(std::vector<int64_t> dims, float value) {
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  std::ranges::fill(tensor.elements<float>(), value);
  return tensor;
}

// Runs a module with a hook. All inputs are ones.
Status run_hooked(format::ModuleContents contents, std::vector<std::vector<int64_t>> inputs,
                  ExecutionHook& hook, std::vector<Tensor>* results = nullptr) {
  const Module module = test::load(std::move(contents));
  const Result<Session> session = Session::create(module);
  std::vector<Tensor> tensors;
  for (const std::vector<int64_t>& dims : inputs) tensors.push_back(filled(dims, 1.0f));
  CallOptions options;
  options.hook = &hook;
  Result<std::vector<Tensor>> given = session->call(tensors, options);
  if (!given.ok()) return given.status();
  if (results != nullptr) *results = *std::move(given);
  return {};
}

TEST(ExecutionHook, SeesTheStateBeforeEachInstruction) {
  std::vector<int64_t> positions;
  std::vector<uint32_t> words;
  std::vector<float> sums;
  const format::ModuleContents contents = test::sum_contents();
  FunctionHook hook([&](const ExecutionState& state) {
    positions.push_back(state.position());
    words.push_back(state.next().word);
    EXPECT_EQ(state.depth(), 1U);
    // All tensors of the module have the shape of the inputs.
    for (uint32_t i = 0; i < contents.functions[0].register_count; ++i) {
      const RegisterValue value = state.register_value(i);
      if (value.data == nullptr || value.dims.size() != 2) continue;
      EXPECT_THAT(std::vector(value.dims.begin(), value.dims.end()), ::testing::ElementsAre(3, 4));
      float element = 0;
      EXPECT_TRUE(state.read(value, 0, std::as_writable_bytes(std::span(&element, 1))).ok());
      sums.push_back(element);
    }
    return true;
  });
  std::vector<Tensor> results;
  ASSERT_TRUE(run_hooked(contents, {{3, 4}, {3, 4}}, hook, &results).ok());
  for (size_t i = 0; i < positions.size(); ++i) EXPECT_EQ(positions[i], static_cast<int64_t>(i));
  EXPECT_EQ(words.front(), 0U);
  EXPECT_GT(words.size(), 4U);
  EXPECT_THAT(sums, ::testing::Contains(2.0f));  // x + y, in the workspace
  EXPECT_THAT(results[0].elements<float>(), Each(4.0f));
}

TEST(ExecutionHook, EndsARun) {
  int64_t last = 0;
  FunctionHook hook([&](const ExecutionState& state) { return (last = state.position()) < 2; });
  const Status status = run_hooked(test::sum_contents(), {{3, 4}, {3, 4}}, hook);
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the execution hook has stopped the call"));
  EXPECT_EQ(last, 2);
}

TEST(ExecutionHook, ExceptionEndsARun) {
  FunctionHook hook([](const ExecutionState&) -> bool { throw std::runtime_error("hook"); });
  EXPECT_EQ(run_hooked(test::sum_contents(), {{3, 4}, {3, 4}}, hook).code(), StatusCode::kInternal);
}

TEST(ExecutionHook, ReadChecksTheRange) {
  FunctionHook hook([](const ExecutionState& state) {
    const RegisterValue value = state.register_value(0);
    std::byte bytes[16];
    EXPECT_TRUE(state.read(value, value.bytes - 16, bytes).ok());
    for (const int64_t offset : {value.bytes - 15, int64_t{-1}, value.bytes, INT64_MAX})
      EXPECT_THAT(std::string(state.read(value, offset, bytes).message()),
                  HasSubstr("the value has fewer bytes than are read"));
    return true;
  });
  EXPECT_TRUE(run_hooked(test::sum_contents(), {{3, 4}, {3, 4}}, hook).ok());
}

TEST(ExecutionHook, SeesActiveFunctions) {
  const format::ModuleContents contents = test::recursive_contents();
  size_t deepest = 0;
  FunctionHook hook([&](const ExecutionState& state) {
    deepest = std::max(deepest, state.depth());
    for (size_t level = 1; level < state.depth(); ++level) {
      const InstructionPlace place = state.return_place(level);
      // It follows a call.
      EXPECT_GT(place.word, 0U);
      EXPECT_LT(place.word, contents.functions[place.function].code.size());
    }
    return true;
  });
  EXPECT_TRUE(run_hooked(contents, {{5}}, hook).ok());
  EXPECT_GT(deepest, 4U);
}

TEST(ExecutionHook, EqualRunsHaveEqualSlots) {
  const format::ModuleContents contents = test::recursive_contents();
  std::vector<int64_t> runs[2];
  for (std::vector<int64_t>& slots : runs) {
    FunctionHook hook([&](const ExecutionState& state) {
      for (uint32_t i = 0; i < contents.functions[state.next().function].slot_count; ++i)
        slots.push_back(state.slot(i));
      return true;
    });
    ASSERT_TRUE(run_hooked(contents, {{5}}, hook).ok());
  }
  EXPECT_EQ(runs[0], runs[1]);
}

}  // namespace
}  // namespace scopevm

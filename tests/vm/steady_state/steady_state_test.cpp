// A repeated call with the same shapes allocates one block for its result and one for its
// workspace, and nothing else.
#include <gtest/gtest.h>

#include "scopevm/session.h"
#include "scopevm/state.h"
#include "tests/vm/modules/adder.h"
#include "tests/vm/modules/test_modules.h"
#include "tests/vm/steady_state/counted_heap.h"

namespace scopevm {
namespace {

void expect_one_block_per_scope(format::ModuleContents contents, std::string_view function) {
  const Session session =
      *Session::create(test::load(std::move(contents)), {.external_libraries = {&test::kAdder}});
  Call call = *session.make_call();
  const int64_t dims[] = {100, 4};
  ASSERT_TRUE(call.set_input(0, *Tensor::allocate(DType::kF32, dims)).ok());
  ASSERT_TRUE(call.set_input(1, *Tensor::allocate(DType::kF32, dims)).ok());
  ASSERT_TRUE(call.run().ok());
  ASSERT_TRUE(call.run().ok());
  std::vector<ScopeStats> before = *session.memory_stats();
  const int64_t heap_before = test::heap_calls();
  constexpr int kCalls = 50;
  for (int i = 0; i < kCalls; ++i)
    if (!call.run().ok()) FAIL();
  EXPECT_EQ(test::heap_calls() - heap_before, 0);
  EXPECT_EQ(call.stats().function, function);
  const std::vector<ScopeStats> after = *session.memory_stats();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after[i].memory.allocations - before[i].memory.allocations, kCalls);
    EXPECT_EQ(after[i].memory.peak_bytes, before[i].memory.peak_bytes);
  }
  for (const ScopeUse& use : call.stats().memory)
    EXPECT_EQ(use.allocations, use.scope == "global.constant" ? 0 : 1);
}

TEST(SteadyState, OneBlockPerScopeAndNoOtherAllocation) {
  expect_one_block_per_scope(test::sum_contents(), "main");
}

TEST(SteadyState, AnExternalFunctionAllocatesNothing) {
  expect_one_block_per_scope(test::external_contents(), "main");
}

TEST(SteadyState, ChoosingAVariantAllocatesNothing) {
  expect_one_block_per_scope(test::variant_contents(), "main[even]");
}

// The result is in the state, so that a step allocates the block of its workspace only.
TEST(SteadyState, AStepOfAStateAllocatesNothingForTheState) {
  const Session session = *Session::create(test::load(test::sum_contents()));
  const State state = *State::create(session, {.pairs = {{"y", "z"}}, .dims = {{"n", 100}}});
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input("x", *Tensor::allocate(DType::kF32, {100, 4})).ok());
  ASSERT_TRUE(call.set_state(state).ok());
  ASSERT_TRUE(call.run().ok());
  ASSERT_TRUE(call.run().ok());
  const std::vector<ScopeStats> before = *session.memory_stats();
  const int64_t heap_before = test::heap_calls();
  constexpr int kSteps = 50;
  const void* data[2] = {};
  for (int i = 0; i < kSteps; ++i) {
    if (!call.run().ok()) FAIL();
    // The buffers alternate.
    const void*& last = data[i % 2];
    if (last != nullptr) EXPECT_EQ(call.outputs()[0].data(), last);
    last = call.outputs()[0].data();
  }
  EXPECT_NE(data[0], data[1]);
  EXPECT_EQ(test::heap_calls() - heap_before, 0);
  const std::vector<ScopeStats> after = *session.memory_stats();
  EXPECT_EQ(after[0].memory.allocations, before[0].memory.allocations);
  EXPECT_EQ(after[1].memory.allocations - before[1].memory.allocations, kSteps);
  EXPECT_TRUE(call.stats().copies.empty());
}

}  // namespace
}  // namespace scopevm

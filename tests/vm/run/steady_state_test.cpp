// A call like the one before it takes one block per scope, and nothing else from anywhere.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "scopevm/session.h"
#include "tests/vm/run/test_modules.h"

namespace {

std::atomic<int64_t> heap_calls{0};

void* counted(std::size_t bytes) {
  ++heap_calls;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  std::abort();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace scopevm {
namespace {

void expect_one_block_per_scope(format::ModuleContents contents, std::string_view function) {
  const Session session = *Session::create(test::load(std::move(contents)));
  Call call = session.make_call();
  const int64_t dims[] = {100, 4};
  ASSERT_TRUE(call.set_input(0, *Tensor::allocate(DType::kF32, dims)).is_ok());
  ASSERT_TRUE(call.set_input(1, *Tensor::allocate(DType::kF32, dims)).is_ok());
  ASSERT_TRUE(call.run().is_ok());
  ASSERT_TRUE(call.run().is_ok());
  std::vector<ScopeStats> before = session.memory_stats();
  const int64_t heap_before = heap_calls;
  constexpr int kCalls = 50;
  for (int i = 0; i < kCalls; ++i)
    if (!call.run().is_ok()) FAIL();
  EXPECT_EQ(heap_calls - heap_before, 0);
  EXPECT_EQ(call.stats().function, function);
  const std::vector<ScopeStats> after = session.memory_stats();
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

TEST(SteadyState, ChoosingAVariantAllocatesNothing) {
  expect_one_block_per_scope(test::variant_contents(), "main[even]");
}

}  // namespace
}  // namespace scopevm

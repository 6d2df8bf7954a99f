// Memory scopes: limits, and statistics after failures.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "runtime/memory/policies/arena_allocator.h"
#include "runtime/memory/pool/pool_allocator.h"
#include "runtime/memory/scope_memory.h"
#include "tests/runtime/memory/failing_allocator.h"

namespace scopevm::runtime {
namespace {

TEST(ScopeMemory, RejectsBytesOverTheLimit) {
  auto memory =
      std::make_shared<ScopeMemory>("cpu", "global", std::make_shared<PoolAllocator>(), 100);
  Storage* first = nullptr;
  Storage* second = nullptr;
  EXPECT_EQ(memory->allocate(60, &first), ScopeMemory::Outcome::kOk);
  EXPECT_EQ(memory->allocate(41, &second), ScopeMemory::Outcome::kOverLimit);
  EXPECT_EQ(memory->allocate(40, &second), ScopeMemory::Outcome::kOk);
  EXPECT_EQ(memory->stats().live_bytes, 100);
  first->release();
  second->release();
  EXPECT_EQ(memory->stats().live_bytes, 0);
  EXPECT_EQ(memory->stats().peak_bytes, 100);
}

TEST(ScopeMemory, PeakExcludesFailedAllocations) {
  auto allocator = std::make_shared<FailingAllocator>(std::make_shared<PoolAllocator>());
  auto memory = std::make_shared<ScopeMemory>("cpu", "global", allocator, -1);
  Storage* storage = nullptr;
  allocator->fail_at(1);
  EXPECT_EQ(memory->allocate(1000, &storage), ScopeMemory::Outcome::kNoRoom);
  EXPECT_EQ(memory->stats().live_bytes, 0);
  EXPECT_EQ(memory->stats().peak_bytes, 0);
  EXPECT_EQ(memory->stats().allocations, 0);
}

TEST(ScopeMemory, LiveBytesDoNotOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  auto memory =
      std::make_shared<ScopeMemory>("cpu", "global", std::make_shared<ArenaAllocator>(), -1);
  EXPECT_TRUE(memory->hold(kMost));
  EXPECT_FALSE(memory->hold(1));
  Storage* storage = nullptr;
  EXPECT_EQ(memory->allocate(1, &storage), ScopeMemory::Outcome::kNoRoom);
  EXPECT_EQ(memory->stats().live_bytes, kMost);
}

}  // namespace
}  // namespace scopevm::runtime

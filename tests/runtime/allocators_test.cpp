// Allocators and memory scopes: allocation, limits, caching of blocks, and statistics.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "runtime/memory/arena_allocator.h"
#include "runtime/memory/failing_allocator.h"
#include "runtime/memory/heap_allocator.h"
#include "runtime/memory/scope_memory.h"

namespace scopevm::runtime {
namespace {

template <typename T>
class AnyAllocator : public ::testing::Test {
 protected:
  T allocator_;
};
using Allocators = ::testing::Types<HeapAllocator, ArenaAllocator>;
TYPED_TEST_SUITE(AnyAllocator, Allocators);

bool is_aligned(const void* block) {
  return reinterpret_cast<uintptr_t>(block) % kBlockAlignment == 0;
}

TYPED_TEST(AnyAllocator, BlocksAreAlignedAndWritable) {
  std::vector<std::pair<void*, int64_t>> blocks;
  for (const int64_t bytes : {0, 1, 63, 64, 65, 255, 256, 257, 4096, 100000, 5000000}) {
    void* block = this->allocator_.allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(is_aligned(block));
    std::memset(block, 0x5a, static_cast<size_t>(bytes));
    blocks.emplace_back(block, bytes);
  }
  for (const auto& [block, bytes] : blocks) this->allocator_.deallocate(block, bytes);
  EXPECT_EQ(this->allocator_.stats().live_bytes, 0);
}

TEST(Alignment, BlocksHaveTheAllocatorsAlignment) {
  HeapAllocator heap(4096);
  ArenaAllocator arena(4096);
  for (Allocator* allocator : {static_cast<Allocator*>(&heap), static_cast<Allocator*>(&arena)})
    for (const int64_t bytes : {0, 1, 64, 5000, 100000, 5000000}) {
      void* first = allocator->allocate(bytes);
      void* second = allocator->allocate(bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 4096, 0U) << bytes;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 4096, 0U) << bytes;
      allocator->deallocate(first, bytes);
      allocator->deallocate(second, bytes);
    }
}

TYPED_TEST(AnyAllocator, CountsExactBytes) {
  void* a = this->allocator_.allocate(100);
  void* b = this->allocator_.allocate(1000);
  this->allocator_.deallocate(a, 100);
  const AllocatorStats stats = this->allocator_.stats();
  EXPECT_EQ(stats.live_bytes, 1000);
  EXPECT_EQ(stats.peak_bytes, 1100);
  EXPECT_EQ(stats.allocations, 2);
  this->allocator_.deallocate(b, 1000);
}

TYPED_TEST(AnyAllocator, ReusesABlock) {
  void* first = this->allocator_.allocate(10000);
  this->allocator_.deallocate(first, 10000);
  EXPECT_GE(this->allocator_.stats().cached_bytes, 10000);
  void* second = this->allocator_.allocate(10000);
  EXPECT_EQ(second, first);
  EXPECT_EQ(this->allocator_.stats().cached_bytes, 0);
  this->allocator_.deallocate(second, 10000);
  this->allocator_.trim();
  EXPECT_EQ(this->allocator_.stats().cached_bytes, 0);
}

TYPED_TEST(AnyAllocator, RejectsHugeRequests) {
  EXPECT_EQ(this->allocator_.allocate(-1), nullptr);
  EXPECT_EQ(this->allocator_.allocate(INT64_MAX), nullptr);
  EXPECT_EQ(this->allocator_.allocate(int64_t{1} << 59), nullptr);
  EXPECT_EQ(this->allocator_.stats().live_bytes, 0);
  EXPECT_EQ(this->allocator_.stats().allocations, 0);
}

TYPED_TEST(AnyAllocator, ReleasesMemoryAfterALargeRequest) {
  constexpr int64_t kLarge = int64_t{256} << 20;
  void* large = this->allocator_.allocate(kLarge);
  this->allocator_.deallocate(large, kLarge);
  for (int i = 0; i < 200; ++i) this->allocator_.deallocate(this->allocator_.allocate(1000), 1000);
  EXPECT_LT(this->allocator_.stats().cached_bytes, int64_t{2} << 20);
}

TYPED_TEST(AnyAllocator, WorksWithConcurrentThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 500; ++i) {
        const int64_t bytes = random() % 20000;
        void* block = this->allocator_.allocate(bytes);
        ASSERT_NE(block, nullptr);
        std::memset(block, t, static_cast<size_t>(bytes));
        for (int64_t b = 0; b < bytes; ++b)
          ASSERT_EQ(static_cast<unsigned char*>(block)[b], static_cast<unsigned char>(t));
        this->allocator_.deallocate(block, bytes);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(this->allocator_.stats().live_bytes, 0);
}

TEST(HeapAllocator, LiveBlocksDoNotOverlap) {
  HeapAllocator allocator;
  std::mt19937 random(7);
  std::vector<std::pair<unsigned char*, int64_t>> live;
  for (int i = 0; i < 5000; ++i) {
    if (live.size() < 50 || random() % 2 == 0) {
      const int64_t bytes = 1 + static_cast<int64_t>(random() % 3000);
      auto* block = static_cast<unsigned char*>(allocator.allocate(bytes));
      std::memset(block, i & 0xff, static_cast<size_t>(bytes));
      live.emplace_back(block, bytes);
    } else {
      std::swap(live[random() % live.size()], live.back());
      const auto [block, bytes] = live.back();
      for (int64_t b = 1; b < bytes; ++b) ASSERT_EQ(block[b], block[0]);
      allocator.deallocate(block, bytes);
      live.pop_back();
    }
  }
  for (const auto& [block, bytes] : live) allocator.deallocate(block, bytes);
}

TEST(ArenaAllocator, KeepsOneBlockForGrowingRequests) {
  ArenaAllocator allocator;
  for (int64_t bytes = 1000; bytes < 2000; ++bytes)
    allocator.deallocate(allocator.allocate(bytes), bytes);
  EXPECT_LT(allocator.stats().cached_bytes, 2400);
}

TEST(FailingAllocator, FailsOnlyTheChosenAllocation) {
  FailingAllocator allocator(std::make_shared<HeapAllocator>());
  allocator.fail_at(2);
  void* first = allocator.allocate(8);
  EXPECT_NE(first, nullptr);
  EXPECT_FALSE(allocator.has_failed());
  EXPECT_EQ(allocator.allocate(8), nullptr);
  EXPECT_TRUE(allocator.has_failed());
  void* third = allocator.allocate(8);
  EXPECT_NE(third, nullptr);
  allocator.deallocate(first, 8);
  allocator.deallocate(third, 8);
}

TEST(ScopeMemory, RejectsBytesOverTheLimit) {
  auto memory =
      std::make_shared<ScopeMemory>("cpu", "global", std::make_shared<HeapAllocator>(), 100);
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
  auto allocator = std::make_shared<FailingAllocator>(std::make_shared<HeapAllocator>());
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

TEST(ArenaAllocator, HugeRequestFailsAfterACachedBlock) {
  ArenaAllocator allocator;
  allocator.deallocate(allocator.allocate(100), 100);
  EXPECT_EQ(allocator.allocate(std::numeric_limits<int64_t>::max()), nullptr);
  EXPECT_EQ(allocator.stats().live_bytes, 0);
}

}  // namespace
}  // namespace scopevm::runtime

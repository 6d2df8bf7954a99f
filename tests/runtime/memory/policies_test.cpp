// Arena, stack, planned and direct allocators, the wrappers, and the allocators by name.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/memory/policies/arena_allocator.h"
#include "runtime/memory/pool/pool_allocator.h"
#include "scopevm/allocators.h"
#include "scopevm/memory_resource.h"
#include "tests/runtime/memory/failing_allocator.h"
#include "tests/runtime/memory/made.h"

namespace scopevm::runtime {
namespace {

std::string error(std::string_view text, AllocatorOptions options = {}) {
  Result<std::shared_ptr<Allocator>> result = make_allocator_from_text(text, std::move(options));
  return result.ok() ? "ok" : std::string(result.status().message());
}

TEST(ArenaAllocator, BlocksHaveTheAllocatorsAlignment) {
  ArenaAllocator arena(4096);
  for (const int64_t bytes : {0, 1, 64, 5000, 100000, 5000000}) {
    void* block = arena.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 4096, 0U) << bytes;
    arena.deallocate(block, bytes);
  }
}

TEST(ArenaAllocator, ReusesABlock) {
  ArenaAllocator arena;
  void* first = arena.allocate(10000);
  arena.deallocate(first, 10000);
  EXPECT_EQ(arena.stats().cached_bytes, 10000);
  void* second = arena.allocate(10000);
  EXPECT_EQ(second, first);
  EXPECT_EQ(arena.stats().cached_bytes, 0);
  arena.deallocate(second, 10000);
}

TEST(ArenaAllocator, ReleasesMemoryAfterALargeRequest) {
  constexpr int64_t kLarge = int64_t{256} << 20;
  ArenaAllocator arena;
  arena.deallocate(arena.allocate(kLarge), kLarge);
  for (int i = 0; i < 200; ++i) arena.deallocate(arena.allocate(1000), 1000);
  EXPECT_LT(arena.stats().cached_bytes, int64_t{2} << 20);
}

TEST(ArenaAllocator, KeepsOneBlockForGrowingRequests) {
  ArenaAllocator allocator;
  for (int64_t bytes = 1000; bytes < 2000; ++bytes)
    allocator.deallocate(allocator.allocate(bytes), bytes);
  EXPECT_LT(allocator.stats().cached_bytes, 2400);
}

TEST(ArenaAllocator, HugeRequestFailsAfterACachedBlock) {
  ArenaAllocator allocator;
  allocator.deallocate(allocator.allocate(100), 100);
  EXPECT_EQ(allocator.allocate(std::numeric_limits<int64_t>::max()), nullptr);
  EXPECT_EQ(allocator.stats().live_bytes, 0);
}

TEST(StackAllocator, ServesItsCapacityAndFailsBeyondIt) {
  const std::shared_ptr<Allocator> stack = made("stack:capacity=1000");
  EXPECT_EQ(stack->allocate(1001), nullptr);
  void* all = stack->allocate(1000);
  EXPECT_NE(all, nullptr);
  EXPECT_EQ(stack->allocate(0), nullptr);
  EXPECT_NE(stack->describe_failure(5).find("stack of 1000 bytes"), std::string::npos);
  stack->deallocate(all, 1000);
  EXPECT_NE(stack->allocate(0), nullptr);
}

TEST(StackAllocator, EndsMeetInTheMiddle) {
  const std::shared_ptr<Allocator> stack = made("stack:capacity=4096,high-from=1024");
  auto* low = static_cast<char*>(stack->allocate(1000));
  auto* high = static_cast<char*>(stack->allocate(1024));
  EXPECT_EQ(high - low, 3072);
  EXPECT_EQ(stack->allocate(2049), nullptr);
  void* middle = stack->allocate(2048);
  EXPECT_NE(middle, nullptr);
  EXPECT_EQ(stack->allocate(1), nullptr);
  // The high end is free only after its last block.
  stack->deallocate(high, 1024);
  EXPECT_EQ(stack->allocate(1024), nullptr);
  stack->deallocate(middle, 2048);
  void* again = stack->allocate(3072);
  EXPECT_NE(again, nullptr);
  stack->deallocate(again, 3072);
  stack->deallocate(low, 1000);
}

TEST(PlannedAllocator, ReturnsThePlannedOffsets) {
  const std::shared_ptr<Allocator> planned =
      made("planned", {.plan = {{0, 100}, {128, 50}, {0, 200}}});
  for (int round = 0; round < 2; ++round) {
    auto* a = static_cast<char*>(planned->allocate(100));
    auto* b = static_cast<char*>(planned->allocate(40));
    EXPECT_EQ(b - a, 128);
    planned->deallocate(a, 100);
    EXPECT_EQ(planned->allocate(201), nullptr);
    EXPECT_NE(planned->describe_failure(201).find("part 2 of the plan has 200 bytes"),
              std::string::npos);
    EXPECT_EQ(planned->allocate(200), a);
    EXPECT_EQ(planned->allocate(0), nullptr);
    planned->deallocate(b, 40);
    planned->deallocate(a, 200);
  }
  EXPECT_EQ(planned->stats().allocations, 6);
  EXPECT_EQ(planned->stats().live_bytes, 0);
  planned->trim();
  EXPECT_EQ(planned->stats().reserved_bytes, 0);
}

TEST(PlannedAllocator, WorksWithConcurrentThreads) {
  std::vector<PlannedBlock> plan;
  for (int64_t i = 0; i < 4000; ++i) plan.push_back({i * 64, 64});
  const std::shared_ptr<Allocator> planned = made("planned", {.plan = std::move(plan)});
  void* first = planned->allocate(64);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        void* block = planned->allocate(64);
        ASSERT_NE(block, nullptr);
        *static_cast<int*>(block) = i;
        planned->deallocate(block, 64);
      }
    });
  for (std::thread& thread : threads) thread.join();
  planned->deallocate(first, 64);
  EXPECT_EQ(planned->stats().allocations, 2001);
  EXPECT_EQ(planned->stats().live_bytes, 0);
}

TEST(Sources, ExceptionsAndFailuresGiveNull) {
  const auto throwing = make_source(
      [](int64_t, int64_t) -> void* { throw std::runtime_error("no"); }, [](void*, int64_t) {});
  const auto failing =
      make_source([](int64_t, int64_t) -> void* { return nullptr; }, [](void*, int64_t) {});
  for (const auto& source : {throwing, failing})
    for (const std::string_view name :
         {"pool", "arena", "direct", "stack:capacity=1M", "planned"}) {
      AllocatorOptions options{.source = source};
      if (name == "planned") options.plan = {{0, 100}};
      const std::shared_ptr<Allocator> allocator = made(name, options);
      EXPECT_EQ(allocator->allocate(100), nullptr) << name;
      EXPECT_EQ(allocator->allocate(100000), nullptr) << name;
      EXPECT_EQ(allocator->stats().live_bytes, 0) << name;
      allocator->trim();
    }
}

TEST(Wrappers, LimitIsExactForEveryAllocator) {
  for (const std::string_view text : {"pool:limit=1000", "arena:limit=1000", "direct:limit=1000",
                                      "stack:capacity=1M,limit=1000"}) {
    const std::shared_ptr<Allocator> allocator = made(text);
    void* first = allocator->allocate(400);
    EXPECT_EQ(allocator->allocate(601), nullptr) << text;
    void* second = allocator->allocate(600);
    EXPECT_NE(second, nullptr) << text;
    EXPECT_EQ(allocator->allocate(1), nullptr) << text;
    allocator->deallocate(second, 600);
    allocator->deallocate(first, 400);
  }
}

TEST(Wrappers, SinkReceivesEachEvent) {
  std::vector<AllocatorEvent> events;
  const std::shared_ptr<Allocator> allocator = made(
      "arena:limit=100", {.sink = [&](const AllocatorEvent& event) { events.push_back(event); }});
  void* block = allocator->allocate(100);
  EXPECT_EQ(allocator->allocate(1), nullptr);
  allocator->deallocate(block, 100);
  allocator->trim();
  ASSERT_EQ(events.size(), 4U);
  using Kind = AllocatorEvent::Kind;
  EXPECT_EQ(events[0].kind, Kind::kAllocate);
  EXPECT_EQ(events[0].block, block);
  EXPECT_EQ(events[1].kind, Kind::kFailure);
  EXPECT_EQ(events[1].bytes, 1);
  EXPECT_EQ(events[2].kind, Kind::kDeallocate);
  EXPECT_EQ(events[3].kind, Kind::kTrim);
}

TEST(Wrappers, RetryCallsTheEmbedder) {
  int calls = 0;
  const std::shared_ptr<Allocator> allocator =
      made("direct:limit=10", {.on_exhausted = [&](int64_t) { return ++calls < 3; }});
  EXPECT_EQ(allocator->allocate(11), nullptr);
  EXPECT_EQ(calls, 3);
}

TEST(Wrappers, FailsOnlyTheChosenAllocation) {
  FailingAllocator allocator(std::make_shared<PoolAllocator>());
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

TEST(MakeAllocator, ReportsWrongNamesAndOptions) {
  EXPECT_EQ(error("pol"), "unknown allocator \"pol\"; did you mean \"pool\"?");
  EXPECT_EQ(error("pool:limits=1"),
            "allocator \"pool\": has no option \"limits\"; did you mean \"limit\"?");
  EXPECT_EQ(error("pool:limit=1X"),
            "allocator \"pool\": limit is \"1X\", expected a size, such as 65536, 64KiB, 2MiB or "
            "1GiB");
  EXPECT_EQ(error("pool:huge-pages=2"),
            "allocator \"pool\": huge-pages is \"2\", expected auto, never or always");
  EXPECT_EQ(error("arena:capacity=1"), "allocator \"arena\": has no option capacity");
  EXPECT_EQ(
      error("stack"),
      "allocator \"stack\": expected a capacity: set capacity_bytes, or \"capacity=\" in text");
  EXPECT_EQ(error("pool:alignment=96"),
            "allocator \"pool\": alignment is 96, expected a power of two from 64 to 2097152");
  EXPECT_EQ(error("planned", {.plan = {{10, 5}}}),
            "allocator \"planned\": offset 10 of 5 bytes is invalid: offsets are multiples of the "
            "alignment");
  EXPECT_EQ(error("pool:limit=1GiB,capacity=64K,chunk=1M,huge-pages=never,thread-caches=off"),
            "ok");
}

TEST(MemoryResource, AllocatesFromAnAllocator) {
  const std::shared_ptr<Allocator> pool = made("pool:limit=1MiB");
  AllocatorResource resource(pool);
  {
    std::pmr::vector<std::pmr::string> strings(&resource);
    for (int i = 0; i < 100; ++i) strings.emplace_back(std::string(100, 'x'));
    EXPECT_GT(pool->stats().live_bytes, 10000);
  }
  EXPECT_EQ(pool->stats().live_bytes, 0);
  for (const size_t alignment : {1, 64, 128, 4096, 65536}) {
    void* block = resource.allocate(100, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0U);
    resource.deallocate(block, 100, alignment);
  }
  EXPECT_THROW((void)resource.allocate(2 << 20), std::bad_alloc);
  EXPECT_EQ(pool->stats().live_bytes, 0);
}

TEST(MemoryResource, SuppliesAPool) {
  std::pmr::synchronized_pool_resource resource;
  const std::shared_ptr<Allocator> pool = made("pool", {.source = make_source(&resource)});
  void* block = pool->allocate(100000);
  EXPECT_NE(block, nullptr);
  pool->deallocate(block, 100000);
}

}  // namespace
}  // namespace scopevm::runtime

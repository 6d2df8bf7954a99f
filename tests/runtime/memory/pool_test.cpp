// The pool allocator: limits, retention, trim, sources, exhaustion and thread caches.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/memory/pool/pool_allocator.h"
#include "runtime/memory/pool/size_classes.h"

namespace scopevm::runtime {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// A source that counts its blocks, and that fails or throws when it is exhausted.
class TestSource final : public BlockSource {
 public:
  void* allocate(int64_t bytes, int64_t alignment) override {
    if (throws) throw std::bad_alloc();
    if (live_bytes + bytes > most_bytes) return nullptr;
    live_bytes += bytes;
    ++blocks;
    return ::operator new(static_cast<size_t>(bytes), std::align_val_t(alignment));
  }
  void deallocate(void* block, int64_t bytes) override {
    live_bytes -= bytes;
    --blocks;
    ::operator delete(block, std::align_val_t(kBlockAlignment));
  }
  std::atomic<bool> throws{false};
  std::atomic<int64_t> most_bytes{INT64_MAX};
  std::atomic<int64_t> live_bytes{0};
  std::atomic<int64_t> blocks{0};
};

TEST(SizeClasses, BlocksAreAtMostAnEighthLarger) {
  for (const int64_t alignment : {64, 128, 4096}) {
    const SizeClasses classes(alignment);
    for (int64_t bytes = 0; bytes <= SizeClasses::kMaxBytes; ++bytes) {
      const int64_t block = SizeClasses::bytes_of(classes.class_of(bytes));
      ASSERT_GE(block, bytes);
      ASSERT_EQ(block % alignment, 0);
      if (alignment == 64) ASSERT_LE(block, std::max(bytes + 64, bytes + bytes / 8));
    }
  }
}

TEST(PoolAllocator, BlocksHaveTheAlignmentOfThePool) {
  for (const int64_t alignment :
       {int64_t{64}, int64_t{256}, int64_t{4096}, int64_t{65536}, 2 * kMiB}) {
    PoolAllocator pool({.alignment = alignment});
    std::vector<std::pair<void*, int64_t>> blocks;
    for (const int64_t bytes : {0, 1, 64, 5000, 40000, 100000, 5000000})
      for (int i = 0; i < 3; ++i) {
        void* block = pool.allocate(bytes);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % static_cast<uintptr_t>(alignment), 0U);
        blocks.emplace_back(block, bytes);
      }
    for (const auto& [block, bytes] : blocks) pool.deallocate(block, bytes);
  }
}

TEST(PoolAllocator, LimitIsExactToTheByte) {
  PoolAllocator pool({.limit_bytes = 100000});
  void* first = pool.allocate(60000);
  EXPECT_EQ(pool.allocate(40001), nullptr);
  void* second = pool.allocate(39999);
  void* third = pool.allocate(1);
  EXPECT_NE(third, nullptr);
  EXPECT_EQ(pool.allocate(1), nullptr);
  pool.deallocate(third, 1);
  pool.deallocate(first, 60000);
  pool.deallocate(second, 39999);
  EXPECT_EQ(pool.stats().live_bytes, 0);
  EXPECT_EQ(pool.stats().peak_bytes, 100000);
}

// The cache of a thread that has deallocated its blocks keeps a part of the limit, which the pool
// revokes.
TEST(PoolAllocator, OneThreadCanUseTheWholeLimit) {
  constexpr int64_t kLimit = 3 * kMiB + 1;
  PoolAllocator pool({.limit_bytes = kLimit});
  void* kept = nullptr;
  std::atomic<int> step{0};
  std::thread other([&] {
    kept = pool.allocate(100);
    for (int i = 0; i < 1000; ++i) pool.deallocate(pool.allocate(64 * i), 64 * i);
    for (step = 1; step < 2;) std::this_thread::yield();
    EXPECT_EQ(pool.allocate(1), nullptr);
    pool.deallocate(kept, 100);
    EXPECT_EQ(pool.allocate(101), nullptr);
    kept = pool.allocate(100);
  });
  while (step < 1) std::this_thread::yield();
  std::vector<void*> blocks;
  while (void* block = pool.allocate(64)) blocks.push_back(block);
  EXPECT_EQ(static_cast<int64_t>(blocks.size()), (kLimit - 100) / 64);
  constexpr int64_t kRest = (kLimit - 100) % 64;
  EXPECT_EQ(pool.allocate(kRest + 1), nullptr);
  void* rest = pool.allocate(kRest);
  EXPECT_NE(rest, nullptr);
  step = 2;
  other.join();
  EXPECT_EQ(pool.stats().live_bytes, kLimit);
  EXPECT_EQ(pool.stats().peak_bytes, kLimit);
  pool.deallocate(rest, kRest);
  pool.deallocate(kept, 100);
  for (void* block : blocks) pool.deallocate(block, 64);
  EXPECT_EQ(pool.stats().live_bytes, 0);
}

TEST(PoolAllocator, ConcurrentThreadsCannotExceedTheLimit) {
  constexpr int64_t kLimit = 100 * 64;
  PoolAllocator pool({.limit_bytes = kLimit});
  std::atomic<int64_t> live{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<void*> blocks;
      for (int i = 0; i < 1000; ++i) {
        if (void* block = pool.allocate(64)) {
          blocks.push_back(block);
          EXPECT_LE(live += 64, kLimit);
        }
        if (blocks.size() > 40) {
          live -= 64;
          pool.deallocate(blocks.back(), 64);
          blocks.pop_back();
        }
      }
      for (void* block : blocks) {
        live -= 64;
        pool.deallocate(block, 64);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.stats().peak_bytes, kLimit);
  EXPECT_EQ(pool.stats().live_bytes, 0);
}

TEST(PoolAllocator, ServesItsOwnMaximum) {
  for (const int64_t most : {int64_t{4096}, int64_t{100000}, 10 * kMiB, 10 * kMiB + 1}) {
    PoolAllocator pool({.limit_bytes = most, .capacity_bytes = most});
    for (int round = 0; round < 3; ++round) {
      // Small blocks occupy slabs, whose memory the large block needs.
      if (most > 100000) pool.deallocate(pool.allocate(1000), 1000);
      void* block = most > SizeClasses::kMaxBytes ? pool.allocate(most) : nullptr;
      if (most <= SizeClasses::kMaxBytes) continue;
      ASSERT_NE(block, nullptr) << most;
      EXPECT_EQ(pool.allocate(1), nullptr);
      pool.deallocate(block, most);
    }
  }
}

TEST(PoolAllocator, RejectsRequestsWhosePagesExceed32Bits) {
  PoolAllocator pool;
  for (const int64_t bytes : {int64_t{1} << 42, int64_t{1} << 44, int64_t{1} << 45})
    EXPECT_EQ(pool.allocate(bytes + 65536), nullptr);
}

TEST(PoolAllocator, CapacityBoundsTheReservedMemory) {
  PoolAllocator pool({.capacity_bytes = 4 * kMiB});
  std::vector<void*> blocks;
  while (void* block = pool.allocate(100000)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 40U);  // of 25 pages each
  EXPECT_LE(pool.stats().reserved_bytes, 4 * kMiB);
  for (void* block : blocks) pool.deallocate(block, 100000);
  void* all = pool.allocate(4 * kMiB);
  EXPECT_NE(all, nullptr);
  pool.deallocate(all, 4 * kMiB);
}

TEST(PoolAllocator, ReusesFreedRunsOfOtherSizes) {
  PoolAllocator pool;
  void* blocks[4];
  for (void*& block : blocks) block = pool.allocate(kMiB);
  const int64_t reserved = pool.stats().reserved_bytes;
  for (void* block : blocks) pool.deallocate(block, kMiB);
  void* merged = pool.allocate(4 * kMiB);
  EXPECT_EQ(merged, blocks[0]);
  EXPECT_EQ(pool.stats().reserved_bytes, reserved);
  pool.deallocate(merged, 4 * kMiB);
}

TEST(PoolAllocator, ReturnsTheMemoryOfALargeRequestAfterManySmallOnes) {
  PoolAllocator pool;
  pool.deallocate(pool.allocate(256 * kMiB), 256 * kMiB);
  EXPECT_GT(pool.stats().cached_bytes, 200 * kMiB);
  for (int i = 0; i < 1000000; ++i) pool.deallocate(pool.allocate(1000), 1000);
  EXPECT_LT(pool.stats().cached_bytes, 4 * kMiB);
}

TEST(PoolAllocator, TrimReturnsToTheMemoryBeforeALargeRequest) {
  PoolAllocator pool;
  std::mt19937 random(3);
  std::vector<std::pair<void*, int64_t>> live;
  const auto make_small = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const int64_t bytes = 64 + static_cast<int64_t>(random() % 30000);
      live.emplace_back(pool.allocate(bytes), bytes);
    }
  };
  make_small(2000);
  pool.trim();
  const int64_t before = pool.stats().reserved_bytes;
  void* large = pool.allocate(512 * kMiB);
  const size_t kept = live.size();
  make_small(5000);
  pool.deallocate(large, 512 * kMiB);
  while (live.size() > kept) {
    pool.deallocate(live.back().first, live.back().second);
    live.pop_back();
  }
  pool.trim();
  EXPECT_LE(pool.stats().reserved_bytes, before + before / 10);
  for (const auto& [block, bytes] : live) pool.deallocate(block, bytes);
}

TEST(PoolAllocator, TrimDrainsTheCachesOfOtherThreads) {
  PoolAllocator pool;
  std::atomic<int> stage{0};
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) pool.deallocate(pool.allocate(64 * (i % 64)), 64 * (i % 64));
    stage = 1;
    while (stage < 2) std::this_thread::yield();
    pool.deallocate(pool.allocate(64), 64);
  });
  while (stage < 1) std::this_thread::yield();
  pool.trim();
  EXPECT_EQ(pool.stats().reserved_bytes, 0);
  stage = 2;
  other.join();
  pool.trim();
  EXPECT_EQ(pool.stats().reserved_bytes, 0);
}

TEST(PoolAllocator, ServesBlocksOfManyPools) {
  // More pools than entries in the table of a thread.
  std::vector<std::unique_ptr<PoolAllocator>> pools;
  for (int i = 0; i < 20; ++i) pools.push_back(std::make_unique<PoolAllocator>());
  std::vector<void*> blocks;
  for (int round = 0; round < 3; ++round)
    for (auto& pool : pools) blocks.push_back(pool->allocate(100));
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) pools[i % 20]->deallocate(blocks[i], 100);
  for (auto& pool : pools) EXPECT_EQ(pool->stats().live_bytes, 0);
}

TEST(PoolAllocator, ThreadsCanEndBeforeAndAfterThePool) {
  auto pool = std::make_unique<PoolAllocator>();
  std::thread([&] { pool->deallocate(pool->allocate(100), 100); }).join();
  EXPECT_EQ(pool->stats().allocations, 1);
  std::atomic<int> stage{0};
  std::thread later([&] {
    pool->deallocate(pool->allocate(100), 100);
    stage = 1;
    while (stage < 2) std::this_thread::yield();
  });
  while (stage < 1) std::this_thread::yield();
  pool.reset();
  stage = 2;
  later.join();
}

TEST(PoolAllocator, TakesBlocksOfASourceAndReturnsThem) {
  auto source = std::make_shared<TestSource>();
  {
    PoolAllocator pool({.chunk_bytes = 256 * 1024, .source = source});
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(pool.allocate(40000));
    EXPECT_GT(source->blocks, 1);
    EXPECT_EQ(pool.stats().reserved_bytes, source->live_bytes);
    for (void* block : blocks) pool.deallocate(block, 40000);
    pool.trim();
    EXPECT_EQ(source->blocks, 0);
    pool.deallocate(pool.allocate(100), 100);
  }
  EXPECT_EQ(source->live_bytes, 0);
}

// A source of addresses without memory, as of a device.
std::shared_ptr<BlockSource> source_without_memory() {
  return make_source(
      [next = int64_t{1} << 40](int64_t bytes, int64_t alignment) mutable {
        const int64_t block = (next + alignment - 1) / alignment * alignment;
        next = block + bytes;
        return reinterpret_cast<void*>(block);
      },
      [](void*, int64_t) {});
}

TEST(PoolAllocator, UsesPageNumbersOfReturnedSegmentsAgain) {
  constexpr int64_t kBytes = int64_t{1} << 30;
  PoolAllocator pool({.source = source_without_memory()});
  for (int round = 0; round < 300; ++round) {
    void* block = pool.allocate(kBytes);
    ASSERT_NE(block, nullptr);
    pool.deallocate(block, kBytes);
    pool.trim();
  }
}

TEST(PoolAllocator, DoesNotAccessTheMemoryOfTheSource) {
  PoolAllocator pool({.alignment = 256, .source = source_without_memory()});
  std::mt19937 random(5);
  std::vector<std::pair<void*, int64_t>> live;
  for (int i = 0; i < 20000; ++i) {
    if (live.size() < 100 || random() % 2 == 0) {
      const int64_t bytes = int64_t{1} << (random() % 24);
      live.emplace_back(pool.allocate(bytes), bytes);
    } else {
      std::swap(live[random() % live.size()], live.back());
      pool.deallocate(live.back().first, live.back().second);
      live.pop_back();
    }
  }
  for (const auto& [block, bytes] : live) pool.deallocate(block, bytes);
  pool.trim();
  EXPECT_EQ(pool.stats().reserved_bytes, 0);
}

TEST(PoolAllocator, FailsCleanlyIfTheSourceFailsOrThrows) {
  for (const bool throws : {false, true}) {
    auto source = std::make_shared<TestSource>();
    PoolAllocator pool({.chunk_bytes = 4096, .source = source});
    void* kept = pool.allocate(100000);
    source->throws = throws;
    source->most_bytes = 0;
    EXPECT_EQ(pool.allocate(200000), nullptr);
    EXPECT_EQ(pool.allocate(100), nullptr);
    EXPECT_EQ(pool.stats().live_bytes, 100000);
    source->throws = false;
    source->most_bytes = INT64_MAX;
    void* later = pool.allocate(200000);
    EXPECT_NE(later, nullptr);
    pool.deallocate(later, 200000);
    pool.deallocate(kept, 100000);
  }
}

TEST(PoolAllocator, CallsTheEmbedderAndTriesAgain) {
  void* held = nullptr;
  int calls = 0;
  PoolAllocator* self = nullptr;
  PoolAllocator pool({.limit_bytes = kMiB, .on_exhausted = [&](int64_t bytes) {
                        ++calls;
                        EXPECT_EQ(bytes, 600000);
                        if (held == nullptr) return false;
                        self->deallocate(std::exchange(held, nullptr), 500000);
                        return true;
                      }});
  self = &pool;
  held = pool.allocate(500000);
  void* block = pool.allocate(600000);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(pool.allocate(600000), nullptr);
  pool.deallocate(block, 600000);
}

TEST(PoolAllocator, DescribesTheLargestHolders) {
  PoolAllocator pool({.limit_bytes = 10 * kMiB});
  void* a = pool.allocate(4 * kMiB);
  void* b = pool.allocate(4 * kMiB);
  void* c = pool.allocate(1000);
  EXPECT_EQ(pool.allocate(3 * kMiB), nullptr);
  const std::string text = pool.describe_failure(3 * kMiB);
  EXPECT_NE(text.find("3145728 bytes requested, 8389608 bytes live of a limit of 10485760 bytes"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("most live bytes: 2 blocks of 4.0 MiB, 1 block of 1.0 KiB"),
            std::string::npos)
      << text;
  pool.deallocate(a, 4 * kMiB);
  pool.deallocate(b, 4 * kMiB);
  pool.deallocate(c, 1000);
}

TEST(PoolAllocator, StatisticsAddUp) {
  PoolAllocator pool;
  void* small = pool.allocate(100);
  void* large = pool.allocate(100000);
  const AllocatorStats stats = pool.stats();
  EXPECT_EQ(stats.rounding_bytes, (128 - 100) + (102400 - 100000));
  EXPECT_EQ(stats.reserved_bytes, stats.live_bytes + stats.rounding_bytes + stats.cached_bytes);
  EXPECT_GT(stats.upstream_calls, 0);
  pool.deallocate(small, 100);
  pool.deallocate(large, 100000);
  EXPECT_EQ(pool.stats().largest_free_bytes, 102400);
}

TEST(PoolAllocator, FailsWithoutAddressSpace) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  const rlimit none = {1, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  PoolAllocator pool;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_EQ(pool.allocate(64), nullptr);
  EXPECT_EQ(pool.stats().reserved_bytes, 0);
  EXPECT_NE(pool.describe_failure(64).find("refused address space"), std::string::npos);
  const Result<AllocatorSnapshot> snapshot = pool.snapshot();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_TRUE(snapshot->live.empty());
  pool.trim();
}

}  // namespace
}  // namespace scopevm::runtime

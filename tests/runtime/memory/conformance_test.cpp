// The contract of Allocator, for every allocator and wrapper.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scopevm/allocators.h"
#include "scopevm/memory_resource.h"
#include "tests/runtime/memory/counting_allocator.h"
#include "tests/runtime/memory/made.h"

namespace scopevm::runtime {
namespace {

struct Subject {
  std::string name;
  std::function<std::shared_ptr<Allocator>()> make;
};

std::vector<Subject> subjects() {
  const auto text = [](std::string name, std::string options) {
    return Subject{std::move(name), [options] { return made(options); }};
  };
  return {
      text("pool", "pool"),
      text("pool_without_caches", "pool:thread-caches=off"),
      text("pool_with_limit", "pool:limit=1GiB,capacity=2GiB"),
      text("pool_with_huge_pages", "pool:huge-pages=always"),
      text("pool_aligned_to_pages", "pool:alignment=16K"),
      {"pool_of_source",
       [] {
         return made("pool:chunk=64KiB", {.source = make_source(std::pmr::new_delete_resource())});
       }},
      text("arena", "arena"),
      text("direct", "direct"),
      text("stack", "stack:capacity=256MiB"),
      text("stack_with_two_ends", "stack:capacity=256MiB,high-from=4K"),
      text("limiting", "arena:limit=1GiB"),
      {"tracing", [] { return made("pool", {.sink = [](const AllocatorEvent&) {}}); }},
      {"retrying", [] { return made("direct", {.on_exhausted = [](int64_t) { return false; }}); }},
      {"counting", [] { return std::make_shared<CountingAllocator>(made("pool")); }},
  };
}

class Conformance : public ::testing::TestWithParam<Subject> {
 protected:
  const std::shared_ptr<Allocator> allocator_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(Allocators, Conformance, ::testing::ValuesIn(subjects()),
                         [](const auto& info) { return info.param.name; });

using Block = std::pair<unsigned char*, int64_t>;

TEST_P(Conformance, BlocksAreAlignedAndWritable) {
  std::vector<std::pair<void*, int64_t>> blocks;
  for (const int64_t bytes : {0, 1, 63, 64, 65, 255, 256, 257, 4096, 32768, 32769, 5000000}) {
    void* block = allocator_->allocate(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kBlockAlignment, 0U);
    std::memset(block, 0x5a, static_cast<size_t>(bytes));
    for (const auto& [other, other_bytes] : blocks) EXPECT_NE(block, other);
    blocks.emplace_back(block, bytes);
  }
  for (const auto& [block, bytes] : blocks) allocator_->deallocate(block, bytes);
  EXPECT_EQ(allocator_->stats().live_bytes, 0);
}

TEST_P(Conformance, CountsExactBytes) {
  for (const int64_t scale : {1, 1000}) {
    const AllocatorStats before = allocator_->stats();
    void* a = allocator_->allocate(100 * scale);
    void* b = allocator_->allocate(1000 * scale);
    allocator_->deallocate(b, 1000 * scale);
    EXPECT_EQ(allocator_->stats().live_bytes, 100 * scale);
    EXPECT_EQ(allocator_->stats().peak_bytes, 1100 * scale);
    EXPECT_EQ(allocator_->stats().allocations - before.allocations, 2);
    allocator_->deallocate(a, 100 * scale);
    EXPECT_EQ(allocator_->stats().live_bytes, 0);
  }
}

TEST_P(Conformance, RejectsHugeRequests) {
  for (const int64_t bytes : {int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{1} << 59})
    EXPECT_EQ(allocator_->allocate(bytes), nullptr);
  EXPECT_EQ(allocator_->stats().live_bytes, 0);
  EXPECT_EQ(allocator_->stats().allocations, 0);
  void* block = allocator_->allocate(100);
  EXPECT_NE(block, nullptr);
  allocator_->deallocate(block, 100);
}

TEST_P(Conformance, TrimReturnsAllCachedMemory) {
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(allocator_->allocate(1000 + i * 1000));
  for (int i = 99; i >= 0; --i)
    allocator_->deallocate(blocks[static_cast<size_t>(i)], 1000 + i * 1000);
  allocator_->trim();
  EXPECT_EQ(allocator_->stats().cached_bytes, 0);
  EXPECT_EQ(allocator_->stats().reserved_bytes, 0);
}

TEST_P(Conformance, LiveBlocksDoNotOverlap) {
  std::mt19937 random(7);
  std::vector<Block> live;
  for (int i = 0; i < 5000; ++i) {
    if (live.size() < 50 || random() % 2 == 0) {
      const int64_t bytes = 1 + static_cast<int64_t>(random() % (i % 10 == 0 ? 100000 : 3000));
      auto* block = static_cast<unsigned char*>(allocator_->allocate(bytes));
      ASSERT_NE(block, nullptr);
      std::memset(block, i & 0xff, static_cast<size_t>(bytes));
      live.emplace_back(block, bytes);
    } else {
      std::swap(live[random() % live.size()], live.back());
      const auto [block, bytes] = live.back();
      for (int64_t b = 1; b < bytes; ++b) ASSERT_EQ(block[b], block[0]);
      allocator_->deallocate(block, bytes);
      live.pop_back();
    }
  }
  int64_t live_bytes = 0;
  for (const auto& [block, bytes] : live) live_bytes += bytes;
  EXPECT_EQ(allocator_->stats().live_bytes, live_bytes);
  for (const auto& [block, bytes] : live) allocator_->deallocate(block, bytes);
  EXPECT_EQ(allocator_->stats().live_bytes, 0);
}

TEST_P(Conformance, SnapshotHasTheLiveBlocks) {
  void* small = allocator_->allocate(200);
  void* other = allocator_->allocate(200);
  void* large = allocator_->allocate(100000);
  allocator_->deallocate(other, 200);
  const Result<AllocatorSnapshot> snapshot = allocator_->snapshot();
  if (snapshot.ok()) {
    EXPECT_EQ(snapshot->live.size(), 2U);
    const void* end = nullptr;
    for (const MemoryRange& range : snapshot->live) {
      EXPECT_GE(range.address, end);
      EXPECT_TRUE(range.address == small || range.address == large);
      end = static_cast<const char*>(range.address) + range.bytes;
    }
  } else {
    EXPECT_EQ(snapshot.status().code(), StatusCode::kUnsupported);
  }
  allocator_->deallocate(large, 100000);
  allocator_->deallocate(small, 200);
}

// Threads allocate, write, pass blocks to each other and deallocate blocks of other threads.
TEST_P(Conformance, WorksWithConcurrentThreads) {
  constexpr int kThreads = 4;
  constexpr int kSteps = 2000;
  std::mutex mutex;
  std::vector<Block> shared;
  const auto work = [&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    std::vector<Block> own;
    for (int i = 0; i < kSteps; ++i) {
      const int64_t bytes = random() % (i % 16 == 0 ? 200000 : 5000);
      auto* data = static_cast<unsigned char*>(allocator_->allocate(bytes));
      ASSERT_NE(data, nullptr);
      std::memset(data, thread + i, static_cast<size_t>(bytes));
      own.emplace_back(data, bytes);
      if (own.size() < 20) continue;
      std::swap(own[random() % own.size()], own.back());
      {
        std::lock_guard lock(mutex);
        shared.push_back(own.back());
        std::swap(shared[random() % shared.size()], shared.back());
        own.back() = shared.back();
        shared.pop_back();
      }
      const auto [block, size] = own.back();
      for (int64_t b = 1; b < size; ++b) ASSERT_EQ(block[b], block[0]);
      allocator_->deallocate(block, size);
      own.pop_back();
      if (i % 512 == 0) allocator_->trim();
      if (i % 128 == 0) EXPECT_GE(allocator_->stats().live_bytes, 0);
    }
    for (const auto& [block, size] : own) allocator_->deallocate(block, size);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  for (const auto& [block, bytes] : shared) allocator_->deallocate(block, bytes);
  const AllocatorStats stats = allocator_->stats();
  EXPECT_EQ(stats.live_bytes, 0);
  EXPECT_EQ(stats.allocations, kThreads * kSteps);
}

TEST_P(Conformance, DescribesAFailureInOneLine) {
  const std::string text = allocator_->describe_failure(123456789);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  if (!text.empty()) EXPECT_NE(text.find("123456789 bytes requested"), std::string::npos) << text;
}

}  // namespace
}  // namespace scopevm::runtime

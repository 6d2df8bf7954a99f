// The contract of the default executor: ranges cover the loop exactly once, honour the grain, and
// no two threads have the same worker index at the same time.
#include "runtime/cpu/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace scopevm::runtime {
namespace {

struct Record {
  explicit Record(int64_t total) : hits(static_cast<size_t>(total)) {}
  std::vector<std::atomic<int>> hits;
  std::array<std::atomic<bool>, 64> busy{};
  std::atomic<int> clashes{0};
  std::atomic<int> small_ranges{0};
  int64_t grain = 1;
  int threads = 1;
};

void body(void* context, int64_t begin, int64_t end, int64_t worker) {
  auto& record = *static_cast<Record*>(context);
  if (worker < 0 || worker >= record.threads || record.busy[worker].exchange(true))
    ++record.clashes;
  if (end - begin < record.grain) ++record.small_ranges;
  for (int64_t i = begin; i < end; ++i) ++record.hits[static_cast<size_t>(i)];
  record.busy[worker] = false;
}

TEST(Executor, CoversTheLoopOnce) {
  for (const int threads : {1, 2, 3}) {
    const std::unique_ptr<Executor> executor = make_default_executor(threads);
    EXPECT_EQ(executor->threads(), threads);
    for (const int64_t total : {0, 1, 2, 5, 64, 1000})
      for (const int64_t grain : {1, 3, 64, 5000}) {
        Record record(total);
        record.grain = std::min(grain, total);
        record.threads = threads;
        executor->parallel_for(total, grain, body, &record);
        for (const auto& hits : record.hits) ASSERT_EQ(hits, 1);
        EXPECT_EQ(record.clashes, 0);
        EXPECT_EQ(record.small_ranges, 0);
      }
  }
}

TEST(Executor, RunsLoopsOfManyThreadsConcurrently) {
  const std::unique_ptr<Executor> executor = make_default_executor(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        Record record(100);
        record.threads = 2;
        executor->parallel_for(100, 10, body, &record);
        for (const auto& hits : record.hits) wrong += hits != 1;
        wrong += record.clashes;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace scopevm::runtime

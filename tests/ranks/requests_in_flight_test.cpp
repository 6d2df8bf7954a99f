// Jobs of several ranks, whose sessions run in threads: calls that run, or wait, at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "scopevm/executor.h"
#include "scopevm/scheduler.h"
#include "tests/ranks/local_ranks.h"
#include "tests/ranks/sum_module.h"

namespace scopevm {
namespace {

// More calls than can run at the same time. Waiting for another call is interrupted, too.
TEST(Ranks, RunTheCallsOfSeveralThreads) {
  const Module module = sum();
  LocalRanks ranks(module, 3);
  ASSERT_TRUE(ranks.leader().ok());
  std::vector<std::thread> threads;
  std::atomic<int> done = 0, late = 0;
  for (int t = 0; t < 9; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const int64_t n = 1000 * (t + 1) + i;
        CallOptions options;
        if (t == 3)
          options.deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
        const auto results = ranks.leader()->call({{numbers(n)}}, options);
        if (results.ok()) {
          expect_sum(results, n);
          ++done;
        } else {
          EXPECT_EQ(results.status().code(), StatusCode::kDeadlineExceeded);
          ++late;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done + late, 450);
  EXPECT_GE(done, 400);
  EXPECT_EQ(ranks.job().left(), 0);
}

// Its first loops return when two calls have begun one.
class MeetingExecutor final : public Executor {
 public:
  int threads() const override { return 2; }
  void parallel_for(int64_t total, int64_t, Body body, void* context) override {
    {
      std::unique_lock lock(mutex_);
      ++begun_;
      is_changed_.notify_all();
      has_met_ &= is_changed_.wait_for(lock, std::chrono::seconds(30), [&] { return begun_ > 1; });
    }
    body(context, 0, total, 0);
  }
  bool has_met() const { return has_met_; }

 private:
  std::mutex mutex_;
  std::condition_variable is_changed_;
  int begun_ = 0;
  bool has_met_ = true;
};

// Rank 1 begins the second call before it has ended the first one.
TEST(Ranks, RunSeveralCallsAtTheSameTime) {
  const Module module = sum();
  const auto meeting = std::make_shared<MeetingExecutor>();
  LocalRanks ranks(module, 3, 64, [&](int rank) {
    SessionOptions options;
    if (rank == 1) options.executor = meeting;
    return options;
  });
  ASSERT_TRUE(ranks.leader().ok());
  constexpr int64_t kCount = 1 << 18;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back(
        [&, t] { expect_sum(ranks.leader()->call({{numbers(kCount + t)}}), kCount + t); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(meeting->has_met());
  EXPECT_EQ(ranks.job().left(), 0);
}

// A call that waits for another rank, or for calls that have the ranks, leaves its worker to
// others.
TEST(Ranks, LeaveTheWorkerWhileTheyWait) {
  const Module module = sum();
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const Session alone = *Session::create(module, {.scheduler = scheduler});
  std::promise<void> released;
  std::shared_future<void> release = released.get_future().share();
  LocalRanks ranks(
      module, 3, 64,
      [&](int rank) {
        SessionOptions options;
        if (rank == 0) options.scheduler = scheduler;
        return options;
      },
      [&](int rank, const Session&) {
        if (rank == 2) release.wait();  // it has a session, and runs no request
      });
  EXPECT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
  struct : TraceSink {
    void record(const TraceEvent&) override {}
  } trace;
  std::vector<Call> waiting;
  constexpr size_t kAtATime = 6;  // requests of three ranks
  for (int i = 0; i < 8; ++i) {
    waiting.push_back(*ranks.leader()->make_call());
    EXPECT_TRUE(waiting.back().set_input(0, numbers(500 + i)).ok());
    EXPECT_TRUE(waiting.back().submit().ok());
  }
  for (int i = 0; i < 20; ++i) expect_sum(alone.call({{numbers(100)}}), 100);
  // All but two have begun.
  Call& cancelled = waiting[kAtATime];
  cancelled.cancel();
  EXPECT_EQ(cancelled.wait().code(), StatusCode::kCancelled);
  for (size_t i = 0; i < waiting.size(); ++i) EXPECT_EQ(waiting[i].is_in_flight(), i != kAtATime);
  // A traced call waits on the worker, and runs the calls that have the ranks meanwhile.
  cancelled = *ranks.leader()->make_call();
  EXPECT_TRUE(cancelled.set_input(0, numbers(500 + kAtATime)).ok());
  EXPECT_TRUE(cancelled.submit({.call = {.trace = &trace}}).ok());
  released.set_value();
  for (size_t i = 0; i < waiting.size(); ++i) {
    const Status status = waiting[i].wait();
    ASSERT_TRUE(status.ok()) << status.message();
    const Tensor result = waiting[i].outputs().front();
    EXPECT_EQ(static_cast<const float*>(result.data())[499], 501);
  }
  EXPECT_EQ(ranks.job().left(), 0);
}

}  // namespace
}  // namespace scopevm

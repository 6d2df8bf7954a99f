// Many calls from many threads: random ones within a capacity, and thousands that wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "scopevm/allocator.h"
#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "tests/vm/admission/counting_allocator.h"
#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using test::CountingAllocator;
using test::floats;
using test::kGlobal;
using test::kWorkspace;
using test::session_on;
using test::sum_call;

// A client with calls of two sessions, of random sizes, priorities, deadlines and cancellations.
// The function of a call checks and releases the result: a client that waits for one call while it
// keeps the results of others could wait for ever.
class Client {
 public:
  Client(const std::vector<Session>& sessions, uint32_t seed) : random_(seed) {
    for (InFlight& each : calls_) each.call = *sessions[random_() % sessions.size()].make_call();
  }

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < calls_.size(); ++i) {
        submit(calls_[i]);
        if (random_() % 4 == 0) calls_[random_() % (i + 1)].call->cancel();
      }
      for (InFlight& each : calls_) each.has_ended.wait(false);
    }
  }
  int completed() const { return completed_; }

 private:
  struct InFlight {
    std::optional<Call> call;
    std::atomic<bool> has_ended{true};
    int64_t rows = 0;
  };

  void submit(InFlight& each) {
    each.rows = 1 + random_() % 100;
    EXPECT_TRUE(each.call->set_input("x", floats(each.rows)).ok());
    EXPECT_TRUE(each.call->set_input("y", floats(each.rows)).ok());
    SubmitOptions options;
    options.priority = static_cast<int>(random_() % 3);
    if (random_() % 4 == 0)
      options.call.deadline =
          std::chrono::steady_clock::now() + std::chrono::microseconds(random_() % 500);
    each.has_ended = false;
    const Status submitted = each.call->submit(options, [&](const Status& status) {
      check(each, status);
      each.has_ended = true;
      each.has_ended.notify_one();
    });
    EXPECT_TRUE(submitted.ok()) << submitted.message();
  }

  void check(InFlight& each, const Status& status) {
    if (!status.ok()) {
      EXPECT_TRUE(status.code() == StatusCode::kCancelled ||
                  status.code() == StatusCode::kDeadlineExceeded)
          << status.message();
      return;
    }
    ++completed_;
    {
      const Tensor z = *each.call->output("z");
      EXPECT_EQ(z.dims()[0], each.rows);
      for (const float element : z.elements<float>()) EXPECT_EQ(element, 6);
    }
    each.call->clear_outputs();
  }

  std::mt19937 random_;
  std::array<InFlight, 16> calls_;
  std::atomic<int> completed_ = 0;
};

// No allocation exceeds the capacity, results are right, and all memory is back at the end.
TEST(Scheduler, RandomCallsStayWithinTheCapacity) {
  constexpr int64_t kCapacity = 4000;
  std::atomic<int64_t> live = 0;
  const Scheduler scheduler = *Scheduler::create(
      {.workers = 2, .capacities = {{kGlobal, kCapacity}, {kWorkspace, kCapacity}}});
  SessionOptions options;
  options.wrap_allocator = [&](std::string_view, std::string_view scope,
                               std::shared_ptr<Allocator> inner) -> std::shared_ptr<Allocator> {
    if (scope != "global") return inner;
    return std::make_shared<CountingAllocator>(std::move(inner), live, kCapacity);
  };
  const std::vector<Session> sessions = {session_on(scheduler, test::sum_contents(), options),
                                         session_on(scheduler, test::sum_contents(), options)};
  std::vector<std::unique_ptr<Client>> clients;
  for (uint32_t seed = 0; seed < 8; ++seed)
    clients.push_back(std::make_unique<Client>(sessions, seed));
  {
    std::vector<std::jthread> threads;
    for (const std::unique_ptr<Client>& client : clients)
      threads.emplace_back([&client] { client->run(20); });
  }
  int completed = 0;
  for (const std::unique_ptr<Client>& client : clients) completed += client->completed();
  EXPECT_GT(completed, 0);
  EXPECT_EQ(live, 0);
  const SchedulerStats stats = *scheduler.stats();
  EXPECT_EQ(stats.waiting + stats.ready, 0U);
  for (const PoolUse& pool : stats.pools) {
    EXPECT_EQ(pool.reserved_bytes, 0) << pool.pool;
    EXPECT_EQ(pool.held_bytes, 0) << pool.pool;
  }
}

TEST(Scheduler, ThousandsOfCallsInFlight) {
  constexpr int kCalls = 10000;
  const Scheduler scheduler = *Scheduler::create({.workers = 2, .capacities = {{kGlobal, 64}}});
  const Session session = session_on(scheduler, test::sum_contents());
  // Nothing runs until the result of this call is released.
  Call holder = sum_call(session, 4);
  ASSERT_TRUE(holder.run().ok());
  const Tensor x = floats(1);
  std::vector<Call> calls;
  std::atomic<int> ended = 0;
  for (int i = 0; i < kCalls; ++i) {
    Call& call = calls.emplace_back(*session.make_call());
    ASSERT_TRUE(call.set_input(0, x).ok());
    ASSERT_TRUE(call.set_input(1, x).ok());
    ASSERT_TRUE(call.set_output(0, floats(1)).ok());
    ASSERT_TRUE(call.submit({},
                            [&](const Status& status) {
                              EXPECT_TRUE(status.ok());
                              ++ended;
                            })
                    .ok());
  }
  EXPECT_EQ(scheduler.stats()->waiting, static_cast<size_t>(kCalls));
  holder.clear_outputs();
  for (Call& call : calls) ASSERT_TRUE(call.wait().ok());
  while (ended < kCalls) std::this_thread::yield();
}

TEST(SchedulerLoad, RunsOnGivenCpus) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(static_cast<size_t>(last), &all)) --last;
  const Scheduler scheduler =
      *Scheduler::create({.cpus = {last}, .spin = std::chrono::milliseconds(1)});
  EXPECT_EQ(scheduler.workers(), 1);  // one per CPU
  const Session session = test::session_on(scheduler, test::sum_contents());
  std::vector<int> used(16, -1);
  for (int& cpu : used) {
    Call call = test::sum_call(session, 3);
    ASSERT_TRUE(call.submit({}, [&cpu](const Status&) { cpu = sched_getcpu(); }).ok());
    EXPECT_TRUE(call.wait().ok());
  }
  EXPECT_THAT(used, testing::Each(last));
  cpu_set_t after;  // of this thread, which is not bound
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&all, &after));
}

TEST(SchedulerLoad, RefusesOtherCpus) {
  EXPECT_EQ(Scheduler::create({.cpus = {-1}}).status().message(),
            "CPU -1 is not a CPU of this process");
  EXPECT_EQ(Scheduler::create({.cpus = {1 << 20}}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Scheduler::create({.spin = std::chrono::seconds(2)}).status().message(),
            "spin is 2000000000 ns, expected 0 to 1 second");
  EXPECT_EQ(cpus_of_numa_node(4095).status().message(), "this machine has no NUMA node 4095");
}

}  // namespace
}  // namespace scopevm

// Schedulers with sessions: submission, waiting for memory, priorities, deadlines, cancellation,
// budgets, results that hold memory, and many calls from many threads.
#include "scopevm/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr char kGlobal[] = "cpu.global";
constexpr char kWorkspace[] = "cpu.global.workspace";

Tensor floats(int64_t rows) {
  Tensor tensor = *Tensor::allocate(DType::kF32, {rows, 4});
  for (int64_t i = 0; i < 4 * rows; ++i) tensor.elements<float>()[static_cast<size_t>(i)] = 1.5F;
  return tensor;
}

Session session_on(const Scheduler& scheduler, const format::ModuleContents& contents,
                   SessionOptions options = {}) {
  options.scheduler = scheduler;
  return *Session::create(test::load(contents), std::move(options));
}

Call sum_call(const Session& session, int64_t rows) {
  Call call = *session.make_call();
  EXPECT_TRUE(call.set_input("x", floats(rows)).ok());
  EXPECT_TRUE(call.set_input("y", floats(rows)).ok());
  return call;
}

PoolUse use_of(const Scheduler& scheduler, const std::string& pool) {
  const SchedulerStats stats = *scheduler.stats();
  for (const PoolUse& use : stats.pools)
    if (use.pool == pool) return use;
  ADD_FAILURE() << "no pool " << pool;
  return {};
}

// A call of wait_contents(): runs until the time in its input, in nanoseconds.
class Blocker {
 public:
  Blocker(const Scheduler& scheduler, milliseconds time)
      : session_(session_on(scheduler, test::wait_contents(1))),
        call_(*session_.make_call()),
        until_(*Tensor::allocate(DType::kI64, {1})) {
    until_.elements<int64_t>()[0] =
        (std::chrono::steady_clock::now() + time).time_since_epoch().count();
    EXPECT_TRUE(call_.set_input(0, until_).ok());
    EXPECT_TRUE(call_.submit().ok());
  }
  Call& call() { return call_; }

 private:
  Session session_;
  Call call_;
  Tensor until_;
};

TEST(Scheduler, RunsSubmittedCalls) {
  const Scheduler scheduler = *Scheduler::create({.workers = 2});
  EXPECT_EQ(scheduler.workers(), 2);
  const Session session = session_on(scheduler, test::sum_contents());
  Call call = sum_call(session, 3);
  EXPECT_TRUE(call.wait().ok());  // nothing was submitted
  std::promise<Status> done;
  ASSERT_TRUE(call.submit({}, [&](const Status& status) { done.set_value(status); }).ok());
  EXPECT_TRUE(call.wait().ok());
  EXPECT_FALSE(call.is_in_flight());
  EXPECT_TRUE(done.get_future().get().ok());
  EXPECT_EQ(call.output("z")->elements<float>()[11], 6);
  // run() and Session::call() use the scheduler, too.
  EXPECT_TRUE(call.run().ok());
  EXPECT_TRUE(session.call(std::vector{floats(2), floats(2)}).ok());
}

TEST(Scheduler, InvalidOptions) {
  const auto error = [](const SchedulerOptions& options) {
    return std::string(Scheduler::create(options).status().message());
  };
  EXPECT_THAT(error({.workers = -1}), HasSubstr("-1 workers"));
  EXPECT_THAT(error({.capacities = {{"a", -1}}}), HasSubstr("expected at least 0"));
  EXPECT_THAT(error({.capacities = {{"a", 1}, {"a", 2}}}), HasSubstr("two capacities"));
  EXPECT_THAT(error({.max_bypass = -1}), HasSubstr("max_bypass"));
  EXPECT_THAT(error({.ageing = std::chrono::hours(2)}), HasSubstr("ageing"));

  const Session alone = *Session::create(test::load(test::sum_contents()));
  Call call = sum_call(alone, 1);
  EXPECT_THAT(std::string(call.submit().message()), HasSubstr("no scheduler"));
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  Call submitted = sum_call(session_on(scheduler, test::sum_contents()), 1);
  SubmitOptions options;
  options.priority = 1001;
  EXPECT_THAT(std::string(submitted.submit(options).message()), HasSubstr("priority 1001"));
  EXPECT_FALSE(submitted.is_in_flight());
}

TEST(Scheduler, ACallInFlightCannotBeChanged) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  Blocker blocker(scheduler, milliseconds(300));
  Call& call = blocker.call();
  EXPECT_TRUE(call.is_in_flight());
  const auto refused = [](const Status& status) {
    EXPECT_THAT(std::string(status.message()), HasSubstr("in flight"));
  };
  refused(call.set_input(0, Tensor()));
  refused(call.set_output(0, Tensor()));
  refused(call.run());
  refused(call.submit());
  refused(call.output("out").status());
  refused(call.has_value(0).status());
  refused(call.elements(0).status());
  EXPECT_TRUE(call.outputs().empty());
  EXPECT_EQ(call.stats().latency_ns, 0);
  call.clear_outputs();
  refused(call.wait_for(milliseconds(1)));
  call.cancel();
  EXPECT_EQ(call.wait().code(), StatusCode::kCancelled);
}

TEST(Scheduler, TheResultsOfACallHoldMemoryUntilTheirRelease) {
  // A call of n rows needs 16*n bytes in both pools, and 64 per thread in the workspace.
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 320}, {kWorkspace, 1000}}});
  const Session session = session_on(scheduler, test::sum_contents());
  Call call = sum_call(session, 10);
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, 160);
  EXPECT_EQ(use_of(scheduler, kGlobal).reserved_bytes, 0);
  EXPECT_EQ(use_of(scheduler, kWorkspace).held_bytes, 0);
  Tensor result = *call.output("z");
  Call other = sum_call(session, 11);
  ASSERT_TRUE(other.submit().ok());
  EXPECT_EQ(other.wait_for(milliseconds(20)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(scheduler.stats()->waiting, 1U);
  call.clear_outputs();
  EXPECT_EQ(other.wait_for(milliseconds(20)).code(), StatusCode::kDeadlineExceeded);
  result = Tensor();
  EXPECT_TRUE(other.wait().ok());
  other.clear_outputs();
  EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, 0);
  // A buffer of the caller holds nothing.
  ASSERT_TRUE(call.set_output("z", floats(10)).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, 0);
}

TEST(Scheduler, ACallThatCanNeverFitIsRefused) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 100}}, .max_waiting = 1});
  const Session session = session_on(scheduler, test::sum_contents());
  Call call = sum_call(session, 10);
  const Status status = call.submit();
  EXPECT_EQ(status.code(), StatusCode::kResourceLimit);
  EXPECT_EQ(status.message(),
            "cpu.global: the call needs 160 bytes, 60 bytes more than the capacity of 100 bytes");
  ASSERT_NE(status.fields(), nullptr);
  EXPECT_EQ(status.fields()->subject, kGlobal);
  EXPECT_EQ(status.fields()->given, "160 bytes");
  // At most one call waits.
  Call holder = sum_call(session, 6);
  ASSERT_TRUE(holder.run().ok());
  Call waits = sum_call(session, 6), refused = sum_call(session, 6);
  ASSERT_TRUE(waits.submit().ok());
  EXPECT_THAT(std::string(refused.submit().message()), HasSubstr("1 call wait"));
  holder.clear_outputs();
  EXPECT_TRUE(waits.wait().ok());
}

TEST(Scheduler, DeadlinesAndCancellationEndTheWaiting) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 160}}});
  const Session session = session_on(scheduler, test::sum_contents());
  Call holder = sum_call(session, 10);
  ASSERT_TRUE(holder.run().ok());
  Call late = sum_call(session, 10), cancelled = sum_call(session, 10),
       last = sum_call(session, 10);
  SubmitOptions options;
  options.call.deadline = std::chrono::steady_clock::now() + milliseconds(20);
  ASSERT_TRUE(late.submit(options).ok());
  ASSERT_TRUE(cancelled.submit().ok());
  ASSERT_TRUE(last.submit().ok());
  EXPECT_EQ(late.wait().code(), StatusCode::kDeadlineExceeded);
  cancelled.cancel();
  EXPECT_EQ(cancelled.wait().code(), StatusCode::kCancelled);
  holder.clear_outputs();
  EXPECT_TRUE(last.wait().ok());
  // A destroyed call does not run.
  ASSERT_TRUE(cancelled.submit().ok());
  {
    const Call destroyed = std::move(cancelled);
  }
  last.clear_outputs();
  EXPECT_EQ(scheduler.stats()->waiting, 0U);
}

TEST(Scheduler, HigherPrioritiesRunFirst) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 160}}});
  const Session session = session_on(scheduler, test::sum_contents());
  Call holder = sum_call(session, 10);
  ASSERT_TRUE(holder.run().ok());
  std::mutex mutex;
  std::vector<int> order;
  std::vector<Call> calls;
  for (const int priority : {0, 3, 1, 2}) {
    Call& call = calls.emplace_back(sum_call(session, 10));
    // The result is in a buffer, so that the next call starts when this one ends.
    ASSERT_TRUE(call.set_output("z", floats(10)).ok());
    SubmitOptions options;
    options.priority = priority;
    ASSERT_TRUE(call.submit(options,
                            [&, priority](const Status& status) {
                              EXPECT_TRUE(status.ok());
                              std::lock_guard lock(mutex);
                              order.push_back(priority);
                            })
                    .ok());
  }
  holder.clear_outputs();
  for (Call& call : calls) EXPECT_TRUE(call.wait().ok());
  std::lock_guard lock(mutex);
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0}));
}

TEST(Scheduler, ConstantsOfASessionAreHeld) {
  const format::ModuleContents contents = test::sum_contents();
  const Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 1000}}});
  std::optional<Session> session = session_on(scheduler, contents);
  const int64_t held = use_of(scheduler, kGlobal).held_bytes;
  session.reset();
  EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, 0);
  EXPECT_GE(held, 0);
}

// wait() and the destructor return after the function of the call, in which waiting is refused.
TEST(Scheduler, TheFunctionOfACallEndsBeforeItsWaiters) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const Session session = session_on(scheduler, test::sum_contents());
  for (int i = 0; i < 200; ++i) {
    auto has_ended = std::make_unique<std::atomic<bool>>(false);
    const bool is_waited_for = i % 2 == 0;
    Call other = sum_call(session, 1);
    {
      Call call = sum_call(session, 1);
      const auto done = [&](const Status& status) {
        if (is_waited_for)
          EXPECT_THAT(std::string(other.run().message()), HasSubstr("must not wait"));
        EXPECT_EQ(call.wait().code(), status.code());  // it is idle
        std::this_thread::yield();
        *has_ended = true;
      };
      ASSERT_TRUE(call.submit({}, done).ok());
      if (is_waited_for) {
        ASSERT_TRUE(call.wait().ok());
        EXPECT_TRUE(*has_ended);
      }
    }
    EXPECT_TRUE(*has_ended);
  }
}

// A call can end, and its function can destroy it, before submit() returns.
TEST(Scheduler, ACallIsDestroyedWhileItIsSubmitted) {
  const Scheduler scheduler = *Scheduler::create({.workers = 2});
  const Session session = session_on(scheduler, test::sum_contents());
  std::atomic<int> ended = 0;
  constexpr int kCalls = 2000;
  for (int i = 0; i < kCalls; ++i) {
    auto* call = new Call(sum_call(session, 1));
    ASSERT_TRUE(call->submit({},
                             [call, &ended](const Status&) {
                               delete call;
                               ++ended;
                             })
                    .ok());
  }
  while (ended < kCalls) std::this_thread::yield();
}

// The function of a call cancels another call, whose function destroys both.
TEST(Scheduler, FunctionsOnOneThreadAreNested) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 160}}});
  const Session session = session_on(scheduler, test::sum_contents());
  Call holder = sum_call(session, 10);
  ASSERT_TRUE(holder.run().ok());
  auto first = std::make_unique<Call>(sum_call(session, 10));
  auto second = std::make_unique<Call>(sum_call(session, 10));
  ASSERT_TRUE(first->submit({}, [&](const Status&) { second->cancel(); }).ok());
  ASSERT_TRUE(second
                  ->submit({},
                           [&](const Status&) {
                             first.reset();
                             second.reset();
                           })
                  .ok());
  first->cancel();
  EXPECT_EQ(first, nullptr);
  EXPECT_EQ(second, nullptr);
}

TEST(Scheduler, ACancelledCallIsNotSubmitted) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  Call call = sum_call(session_on(scheduler, test::sum_contents()), 1);
  call.cancel();
  ASSERT_TRUE(call.submit().ok());
  EXPECT_EQ(call.wait().code(), StatusCode::kCancelled);
  EXPECT_TRUE(call.run().ok());
}

// A budget limits a call also in pools without a capacity.
TEST(Scheduler, BudgetsLimitEveryPool) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 1000}}});
  const Session session = session_on(scheduler, test::sum_contents());
  Call call = sum_call(session, 10);
  SubmitOptions options;
  options.data_budgets = {{"global.workspace", 0}, {kGlobal, 0}};
  ASSERT_TRUE(call.submit(options).ok());
  EXPECT_TRUE(call.wait().ok());  // the memory of this call is that of its bound
  options.data_budgets = {{"nowhere", 1}};
  EXPECT_THAT(std::string(call.submit(options).message()), HasSubstr("no memory scope"));
  options.data_budgets = {{kGlobal, -1}};
  EXPECT_THAT(std::string(call.submit(options).message()), HasSubstr("expected at least 0"));
}

// The function of a call can use or destroy the call, and with it the session and the scheduler.
TEST(Scheduler, EverythingCanBeReleasedByAWorker) {
  for (int i = 0; i < 20; ++i) {
    auto call = std::make_shared<std::optional<Call>>();
    std::promise<void> done;
    {
      const Scheduler scheduler = *Scheduler::create({.workers = 2});
      *call = sum_call(session_on(scheduler, test::sum_contents()), 3);
    }
    auto* const raw = call.get();
    ASSERT_TRUE((*raw)
                    ->submit({},
                             [&done, call = std::move(call)](const Status& status) mutable {
                               EXPECT_TRUE(status.ok());
                               call->reset();
                               done.set_value();
                             })
                    .ok());
    done.get_future().wait();
  }
}

// Counts the live bytes of a pool, over all sessions.
class CountingAllocator final : public Allocator {
 public:
  CountingAllocator(std::shared_ptr<Allocator> inner, std::atomic<int64_t>& live, int64_t capacity)
      : inner_(std::move(inner)), live_(live), capacity_(capacity) {}
  void* allocate(int64_t bytes) override {
    EXPECT_LE(live_.fetch_add(bytes) + bytes, capacity_);
    return inner_->allocate(bytes);
  }
  void deallocate(void* block, int64_t bytes) override {
    live_.fetch_sub(bytes);
    inner_->deallocate(block, bytes);
  }
  AllocatorStats stats() const override { return inner_->stats(); }
  void trim() override { inner_->trim(); }

 private:
  const std::shared_ptr<Allocator> inner_;
  std::atomic<int64_t>& live_;
  const int64_t capacity_;
};

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

}  // namespace
}  // namespace scopevm

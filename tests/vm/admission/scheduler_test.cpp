// Schedulers with sessions: submission, waiting for memory, priorities, deadlines, cancellation,
// budgets, and results that hold memory.
#include "scopevm/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "scopevm/session.h"
#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using test::floats;
using test::kGlobal;
using test::kWorkspace;
using test::session_on;
using test::sum_call;
using test::use_of;

using std::chrono::milliseconds;
using ::testing::HasSubstr;

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
  // A misspelt pool.
  const Scheduler misspelt = *Scheduler::create({.capacities = {{"cpu.globl", 1 << 20}}});
  EXPECT_THAT(
      std::string(Session::create(test::load(test::sum_contents()), {.scheduler = misspelt})
                      .status()
                      .message()),
      HasSubstr("no capacity of the scheduler is for a memory scope of the module; it has no \""
                "cpu.globl\"; did you mean \"cpu.global\"?"));
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  Call submitted = sum_call(session_on(scheduler, test::sum_contents()), 1);
  SubmitOptions options;
  options.priority = 1001;
  EXPECT_THAT(std::string(submitted.submit(options).message()), HasSubstr("priority 1001"));
  EXPECT_FALSE(submitted.is_in_flight());
}

// With this capacity next to one of the module's pool cpu.global.
std::string error_with_capacity(const std::string& pool) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 1 << 20}, {pool, 1 << 20}}});
  return std::string(Session::create(test::load(test::sum_contents()), {.scheduler = scheduler})
                         .status()
                         .message());
}

TEST(Scheduler, AMisspeltCapacityIsAnError) {
  EXPECT_EQ(error_with_capacity("cpu.global.workspce"),
            "the scheduler has a capacity for \"cpu.global.workspce\", which is no memory scope of "
            "the module; did you mean \"cpu.global.workspace\"?");
  EXPECT_THAT(error_with_capacity("cpu.globl.workspace"),
              HasSubstr("did you mean \"cpu.global.workspace\"?"));
}

TEST(Scheduler, ACapacityCanBeForAnotherModule) {
  EXPECT_EQ(error_with_capacity(kWorkspace), "");
  EXPECT_EQ(error_with_capacity("npu.global"), "");
  EXPECT_EQ(error_with_capacity("cp.global.workspace"), "") << "another device";
  EXPECT_EQ(error_with_capacity("cpu.local"), "");
  EXPECT_EQ(error_with_capacity("cpu.globl"), "") << "cpu.global has a capacity";
  EXPECT_EQ(error_with_capacity("cpu"), "");
  EXPECT_EQ(error_with_capacity(""), "");
}

// The bytes of the workspace that the allocators of a session keep.
int64_t cached_workspace(const Session& session) {
  for (const ScopeStats& stats : *session.memory_stats())
    if (stats.scope == "global.workspace") return stats.memory.cached_bytes;
  return -1;
}

TEST(Scheduler, ReturnsCachedBlocksThatWouldExceedACapacity) {
  // A call of n rows needs 16 n + 64 bytes of workspace.
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{kWorkspace, 1000}}});
  const Session first = session_on(scheduler, test::sum_contents());
  const Session second = session_on(scheduler, test::sum_contents());
  ASSERT_TRUE(sum_call(first, 30).run().ok());
  EXPECT_GE(cached_workspace(first), 30 * 16 + 64);
  // Together, the sessions occupy less than the capacity.
  ASSERT_TRUE(sum_call(second, 10).run().ok());
  EXPECT_GE(cached_workspace(first), 30 * 16 + 64);
  ASSERT_TRUE(sum_call(second, 40).run().ok());
  EXPECT_EQ(cached_workspace(first), 0);
  EXPECT_GE(cached_workspace(second), 40 * 16 + 64);
  EXPECT_LE(cached_workspace(second), 1000);
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

// The flag of CallOptions ends a wait for memory that can last for any time.
TEST(Scheduler, TheCancelFlagEndsTheWaiting) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 160}}});
  const Session session = session_on(scheduler, test::sum_contents());
  Call holder = sum_call(session, 10), waits = sum_call(session, 10), last = sum_call(session, 10);
  ASSERT_TRUE(holder.run().ok());
  std::atomic<bool> flag = false;
  SubmitOptions options;
  options.call.cancel = &flag;
  ASSERT_TRUE(waits.submit(options).ok());
  ASSERT_TRUE(last.submit().ok());
  EXPECT_EQ(waits.wait_for(milliseconds(10)).code(), StatusCode::kDeadlineExceeded);
  flag = true;
  EXPECT_EQ(waits.wait().code(), StatusCode::kCancelled);
  ASSERT_TRUE(waits.submit(options).ok());  // the flag is set already
  EXPECT_EQ(waits.wait().code(), StatusCode::kCancelled);
  holder.clear_outputs();
  EXPECT_TRUE(last.wait().ok());
  flag = false;
  last.clear_outputs();
  ASSERT_TRUE(waits.submit(options).ok());
  EXPECT_TRUE(waits.wait().ok());
}

// The memory of one call is free for the next one when the first one is destroyed.
TEST(Scheduler, ADestroyedCallHoldsNoMemory) {
  const Scheduler scheduler = *Scheduler::create({.workers = 2});
  SessionOptions options;
  options.memory_limits = {{"global", 160}};
  const Session session = session_on(scheduler, test::sum_contents(), options);
  for (int i = 0; i < 2000; ++i) {
    Call call = sum_call(session, 10);
    ASSERT_TRUE(call.submit().ok());
    const Status status = call.wait();
    ASSERT_TRUE(status.ok()) << i << ": " << status.message();
  }
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

}  // namespace
}  // namespace scopevm

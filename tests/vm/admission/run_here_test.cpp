// Calls that submit() itself runs: SubmitOptions::can_run_here.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using test::BusyWorker;
using test::kGlobal;
using test::session_on;
using test::sum_call;
using test::use_of;

SubmitOptions here() {
  SubmitOptions options;
  options.can_run_here = true;
  return options;
}

TEST(RunHere, AnIdleSchedulerRunsTheCallInSubmit) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 1 << 20}}});
  const Session session = session_on(scheduler, test::sum_contents());
  Call call = sum_call(session, 10);
  std::optional<std::thread::id> thread;
  for (int i = 0; i < 100; ++i) {
    thread.reset();
    ASSERT_TRUE(call.submit(here(),
                            [&](const Status& status) {
                              EXPECT_TRUE(status.ok());
                              thread = std::this_thread::get_id();
                            })
                    .ok());
    ASSERT_EQ(thread, std::this_thread::get_id());
    EXPECT_FALSE(call.is_in_flight());
    EXPECT_EQ(call.outputs()[0].elements<float>()[0], 6.0F);
    EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, call.outputs()[0].bytes());
    EXPECT_EQ(use_of(scheduler, kGlobal).reserved_bytes, 0);
  }
  EXPECT_EQ(scheduler.stats()->running, 0U);
}

TEST(RunHere, ABusyWorkerRunsTheCallLater) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const Session session = session_on(scheduler, test::sum_contents());
  BusyWorker busy(session);
  Call call = sum_call(session, 10);
  std::atomic<bool> is_here = true;
  ASSERT_TRUE(call.submit(here(),
                          [&, thread = std::this_thread::get_id()](const Status&) {
                            is_here = std::this_thread::get_id() == thread;
                          })
                  .ok());
  EXPECT_TRUE(call.is_in_flight());
  busy.release();
  EXPECT_TRUE(call.wait().ok());
  EXPECT_FALSE(is_here);
}

TEST(RunHere, ACallThatDoesNotFitWaits) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 160}}});
  const Session session = session_on(scheduler, test::sum_contents());
  Call holder = sum_call(session, 10), call = sum_call(session, 10);
  ASSERT_TRUE(holder.submit(here()).ok());
  EXPECT_FALSE(holder.is_in_flight());
  ASSERT_TRUE(call.submit(here()).ok());
  EXPECT_TRUE(call.is_in_flight());
  holder.clear_outputs();
  EXPECT_TRUE(call.wait().ok());
}

// `done` runs on a thread of the scheduler: it must not wait, and can submit and destroy calls.
TEST(RunHere, TheFunctionAtTheEndSubmitsAndDestroysCalls) {
  const Scheduler scheduler = *Scheduler::create({.workers = 2});
  const Session session = session_on(scheduler, test::sum_contents());
  std::vector<Call> others;
  for (int i = 0; i < 3; ++i) others.push_back(sum_call(session, 10));
  std::optional<Call> call = sum_call(session, 10);
  std::atomic<int> ended = 0;
  ASSERT_TRUE(call->submit(here(),
                           [&](const Status&) {
                             call.reset();
                             for (Call& other : others)
                               EXPECT_TRUE(
                                   other.submit(here(), [&](const Status&) { ++ended; }).ok());
                             EXPECT_EQ(ended, 3);  // the other worker is idle
                             Call blocked = sum_call(session, 10);
                             EXPECT_EQ(blocked.run().code(), StatusCode::kInvalidArgument);
                           })
                  .ok());
  EXPECT_FALSE(call.has_value());
  Call after = sum_call(session, 10);
  EXPECT_TRUE(after.run().ok());  // this thread can wait again
}

TEST(RunHere, ManyThreads) {
  constexpr int kThreads = 4, kCalls = 300;
  const Scheduler scheduler =
      *Scheduler::create({.workers = 2, .capacities = {{kGlobal, 4 * 160}}});
  const Session session = session_on(scheduler, test::sum_contents());
  std::atomic<int> ended = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Call call = sum_call(session, 10);
      SubmitOptions options;
      for (int i = 0; i < kCalls; ++i) {
        options.can_run_here = (i + t) % 2 == 0;
        ASSERT_TRUE(call.submit(options,
                                [&](const Status& status) {
                                  EXPECT_TRUE(status.ok());
                                  EXPECT_EQ(call.outputs()[0].elements<float>()[0], 6.0F);
                                  call.clear_outputs();
                                  ++ended;
                                })
                        .ok());
        ASSERT_TRUE(call.wait().ok());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ended, kThreads * kCalls);
  EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, 0);
}

}  // namespace
}  // namespace scopevm

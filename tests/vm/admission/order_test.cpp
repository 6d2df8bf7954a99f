// The order in which calls of a scheduler start, and the end of their waiting for a worker.
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using std::chrono::milliseconds;
using test::BusyWorker;
using test::floats;
using test::kGlobal;
using test::session_on;
using test::sum_call;
using test::use_of;

TEST(SchedulerOrder, HigherPrioritiesRunFirst) {
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

// Without capacities, all calls are admitted at once, and wait for the worker.
TEST(SchedulerOrder, PrioritiesOrderCallsThatWaitForAWorker) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const Session session = session_on(scheduler, test::sum_contents());
  BusyWorker busy(session);
  std::mutex mutex;
  std::vector<int> order;
  std::vector<Call> calls;
  for (const int priority : {0, 30, 10, 30, 20, 0, 10}) {
    SubmitOptions options;
    options.priority = priority;
    ASSERT_TRUE(calls.emplace_back(sum_call(session, 10))
                    .submit(options,
                            [&, priority](const Status& status) {
                              EXPECT_TRUE(status.ok());
                              std::lock_guard lock(mutex);
                              order.push_back(priority);
                            })
                    .ok());
  }
  EXPECT_EQ(scheduler.stats()->ready, 7U);
  busy.release();
  for (Call& call : calls) EXPECT_TRUE(call.wait().ok());
  std::lock_guard lock(mutex);
  EXPECT_EQ(order, (std::vector<int>{30, 30, 20, 10, 10, 0, 0}));
}

TEST(SchedulerOrder, DeadlinesEndTheWaitForAWorker) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 1 << 20}}});
  const Session session = session_on(scheduler, test::sum_contents());
  BusyWorker busy(session);
  Call late = sum_call(session, 10), last = sum_call(session, 10);
  SubmitOptions options;
  options.call.deadline = std::chrono::steady_clock::now() + milliseconds(20);
  ASSERT_TRUE(late.submit(options).ok());
  ASSERT_TRUE(last.submit().ok());
  EXPECT_EQ(late.wait().code(), StatusCode::kDeadlineExceeded);  // the worker is still busy
  EXPECT_EQ(scheduler.stats()->ready, 1U);
  busy.release();
  EXPECT_TRUE(last.wait().ok());
  late.clear_outputs();
  last.clear_outputs();
  EXPECT_EQ(use_of(scheduler, kGlobal).reserved_bytes, 0);
}

}  // namespace
}  // namespace scopevm

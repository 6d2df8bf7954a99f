// Coroutines that await calls.
#include "scopevm/awaitable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/scheduler.h"
#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using test::session_on;
using test::sum_call;
using ::testing::HasSubstr;

// A coroutine that starts at once and destroys itself at its end.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Detached run_times(Call& call, int times, std::promise<Status>& done) {
  Status status;
  for (int i = 0; i < times && status.ok(); ++i) status = co_await AwaitableCall(call);
  done.set_value(std::move(status));
}

TEST(AwaitableCall, ACoroutineAwaitsManyRuns) {
  const Scheduler scheduler = *Scheduler::create({.workers = 2});
  const Session session = session_on(scheduler, test::sum_contents());
  Call call = sum_call(session, 3);
  std::promise<Status> done;
  run_times(call, 1000, done);
  EXPECT_TRUE(done.get_future().get().ok());
  EXPECT_TRUE(call.wait().ok());
  EXPECT_EQ(call.output("z")->elements<float>()[11], 6);
}

// Owns the call, which the end of the coroutine destroys.
Detached own_call(Call call, std::atomic<int>& sum, std::promise<void>& done) {
  const Status status = co_await AwaitableCall(call, {.priority = 1});
  if (status.ok()) sum += static_cast<int>(call.output("z")->elements<float>()[0]);
  done.set_value();
}

TEST(AwaitableCall, TheCoroutineOwnsTheCall) {
  const Scheduler scheduler = *Scheduler::create({.workers = 2});
  const Session session = session_on(scheduler, test::sum_contents());
  std::atomic<int> sum = 0;
  std::vector<std::promise<void>> done(100);
  for (std::promise<void>& each : done) own_call(sum_call(session, 2), sum, each);
  for (std::promise<void>& each : done) each.get_future().wait();
  EXPECT_EQ(sum, 600);
}

TEST(AwaitableCall, HasTheErrorsOfSubmissionAndRun) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const Session session = session_on(scheduler, test::sum_contents());
  Call unset = *session.make_call();
  std::promise<Status> refused;
  run_times(unset, 1, refused);
  EXPECT_THAT(std::string(refused.get_future().get().message()), HasSubstr("missing input"));
  Call call = sum_call(session, 2);
  call.cancel();
  std::promise<Status> cancelled;
  run_times(call, 1, cancelled);
  EXPECT_EQ(cancelled.get_future().get().code(), StatusCode::kCancelled);
}

// Sets `cancel`, which the options name, before the second run.
Detached cancel_second(Call& call, std::atomic<bool>& cancel, std::promise<Status>& done) {
  AwaitableCall awaitable(call, {.call = {.cancel = &cancel}});
  Status status = co_await awaitable;
  cancel = true;
  if (status.ok()) status = co_await awaitable;
  done.set_value(std::move(status));
}

TEST(AwaitableCall, KeepsItsOptions) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const Session session = session_on(scheduler, test::sum_contents());
  Call call = sum_call(session, 2);
  std::atomic<bool> cancel = false;
  std::promise<Status> done;
  cancel_second(call, cancel, done);
  EXPECT_EQ(done.get_future().get().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace scopevm

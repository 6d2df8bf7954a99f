// States of submitted calls: a call uses its state from submit() to its end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/state/state_modules.h"

namespace scopevm {
namespace {

using test::kGlobal;
using test::kWorkspace;
using test::message_of;
using test::rows;
using test::stepping_call;
using test::use_of;
using test::value_of;

TEST(ScheduledState, ACallSubmitsTheNextStep) {
  const Scheduler scheduler = *Scheduler::create({.workers = 2});
  const Session session = test::session_on(scheduler, test::sum_contents());
  State state = *State::create(session, rows(2));
  Call call = stepping_call(session, state, 0.5F, 2);
  std::atomic<bool> is_done{false};
  std::function<void(const Status&)> next = [&](const Status& status) {
    EXPECT_TRUE(status.ok()) << status.message();
    if (state.steps() == 10) {
      is_done = true;
      is_done.notify_one();
    } else {
      EXPECT_TRUE(call.submit({}, next).ok());
    }
  };
  ASSERT_TRUE(call.submit({}, next).ok());
  is_done.wait(false);
  ASSERT_TRUE(call.wait().ok());
  EXPECT_EQ(value_of(state), 1023);
}

// A call that holds the memory of the only worker's pool until it is released.
struct Blocked {
  Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 1000}}});
  Session session = test::session_on(scheduler, test::sum_contents());
  Call holder = test::sum_call(session, 50);  // its result has 800 bytes

  Blocked() {
    EXPECT_TRUE(holder.submit().ok());
    EXPECT_TRUE(holder.wait().ok());
  }
};

TEST(ScheduledState, AQueuedCallUsesTheState) {
  Blocked blocked;
  State state = *State::create(blocked.session, rows(3));
  Call call = stepping_call(blocked.session, state, 1, 3);
  Call other = stepping_call(blocked.session, state, 1, 3);
  EXPECT_EQ(use_of(blocked.scheduler, kGlobal).held_bytes, 800 + 2 * 48);
  State large = *State::create(blocked.session, rows(1));
  EXPECT_EQ(use_of(blocked.scheduler, kGlobal).held_bytes, 800 + 2 * 48 + 2 * 16);
  Call fill = test::sum_call(blocked.session, 4);
  ASSERT_TRUE(fill.submit().ok());
  ASSERT_TRUE(fill.wait().ok());
  // These bytes fit only after the release of the result of 800 bytes.
  const SubmitOptions waiting = {.data_budgets = {{kGlobal, 48}}};
  ASSERT_TRUE(call.submit(waiting).ok());
  EXPECT_TRUE(call.is_in_flight());
  EXPECT_EQ(message_of(other.submit()),
            "the state is in use: wait for the end of the call or function that uses it");
  EXPECT_EQ(message_of(call.unset_state()), "the call is in flight: wait for its end");
  EXPECT_EQ(state.snapshot().status().code(), StatusCode::kInvalidArgument);
  call.cancel();
  EXPECT_EQ(call.wait().code(), StatusCode::kCancelled);
  EXPECT_EQ(value_of(state), 0);
  // A deadline that passes in the queue.
  SubmitOptions late = waiting;
  late.call.deadline = std::chrono::steady_clock::now();
  ASSERT_TRUE(other.submit(late).ok());
  EXPECT_EQ(other.wait().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(state.steps(), 0);
  ASSERT_TRUE(other.submit(waiting).ok());
  blocked.holder.clear_outputs();
  ASSERT_TRUE(other.wait().ok());
  EXPECT_EQ(value_of(state), 2);
}

TEST(ScheduledState, TheSchedulerHoldsTheMemoryOfAState) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 100}}});
  const Session session = test::session_on(scheduler, test::sum_contents());
  EXPECT_EQ(message_of(State::create(session, rows(10)).status()),
            "state y=z: cpu.global: 160 bytes of state, but only 100 bytes of 100 bytes are free");
  {
    const State state = *State::create(session, rows(3));
    EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, 96);
    const Status refused = State::create(session, rows(1)).status();
    EXPECT_EQ(refused.code(), StatusCode::kResourceLimit);
    EXPECT_EQ(message_of(refused),
              "state y=z: cpu.global: 16 bytes of state, but only 4 bytes of 100 bytes are free");
    EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, 96);
  }
  EXPECT_EQ(use_of(scheduler, kGlobal).held_bytes, 0);
}

// The bytes that the scheduler reserves while a launch runs.
class ReservedBytes final : public TraceSink {
 public:
  explicit ReservedBytes(const Scheduler& scheduler) : scheduler_(scheduler) {}
  void record(const TraceEvent& event) override {
    if (event.kind != TraceEvent::Kind::kLaunch) return;
    global = use_of(scheduler_, kGlobal).reserved_bytes;
    workspace = use_of(scheduler_, kWorkspace).reserved_bytes;
  }
  int64_t global = -1;
  int64_t workspace = -1;

 private:
  const Scheduler& scheduler_;
};

// The state holds the bytes of its results already, so that a call does not reserve them again.
TEST(ScheduledState, ACallReservesNoMemoryForTheResultsOfItsState) {
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{kGlobal, 96}, {kWorkspace, 1000}}});
  const Session session = test::session_on(scheduler, test::sum_contents());
  State state = *State::create(session, rows(3));
  Call call = stepping_call(session, state, 1, 3);
  ReservedBytes reserved(scheduler);
  ASSERT_TRUE(call.submit({.call = {.trace = &reserved}}).ok());
  ASSERT_TRUE(call.wait().ok());
  EXPECT_EQ(value_of(state), 2);
  EXPECT_EQ(reserved.global, 0);
  EXPECT_GT(reserved.workspace, 0);
  for (const ScopeUse& use : call.stats().memory) {
    if (use.scope == "global") EXPECT_EQ(use.peak_bytes, reserved.global);
    if (use.scope == "global.workspace") EXPECT_EQ(use.peak_bytes, reserved.workspace);
  }
  // Without the state, the call needs memory for its result.
  ASSERT_TRUE(call.unset_state().ok());
  ASSERT_TRUE(call.set_input("y", test::filled(1, {3, 4})).ok());
  ASSERT_TRUE(call.submit().ok());
  EXPECT_TRUE(call.is_in_flight()) << "it waits for the memory that the state holds";
  call.cancel();
  EXPECT_EQ(call.wait().code(), StatusCode::kCancelled);
}

TEST(ScheduledState, ACallIsDestroyedInItsFunction) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const Session session = test::session_on(scheduler, test::sum_contents());
  State state = *State::create(session, rows(1));
  for (int i = 0; i < 20; ++i) {
    auto call = std::make_unique<Call>(stepping_call(session, state, 1, 1));
    std::atomic<bool> is_done{false};
    Call& submitted = *call;
    ASSERT_TRUE(submitted
                    .submit({},
                            [&](const Status&) {
                              call.reset();
                              is_done = true;
                              is_done.notify_one();
                            })
                    .ok());
    is_done.wait(false);
  }
  EXPECT_EQ(state.steps(), 20);
}

}  // namespace
}  // namespace scopevm

// States: creation, the values that calls read and replace, and failed calls, which replace none.
#include "scopevm/state.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <thread>

#include "tests/vm/state/state_modules.h"

namespace scopevm {
namespace {

using test::filled;
using test::message_of;
using test::rows;
using test::stepping_call;
using test::value_of;

Session sum_session(SessionOptions options = {}) {
  return *Session::create(test::load(test::sum_contents()), std::move(options));
}

int64_t live_bytes(const Session& session) {
  return (*session.memory_stats())[0].memory.live_bytes;
}

TEST(State, ACallReadsAndReplacesTheValue) {
  const Session session = sum_session();
  State state = *State::create(session, rows(3));
  EXPECT_EQ(value_of(state), 0);
  Call call = stepping_call(session, state, 1, 3);
  for (const float expected : {2.0F, 6.0F, 14.0F}) {
    ASSERT_TRUE(call.run().ok());
    EXPECT_EQ(value_of(state), expected);
    EXPECT_EQ(call.output("z")->elements<float>()[5], expected);
    EXPECT_TRUE(call.output("z")->is_read_only());
  }
  EXPECT_EQ(state.steps(), 3);
  // Calls without the state are not tied.
  ASSERT_TRUE(call.unset_state().ok());
  EXPECT_EQ(call.run().code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(call.set_input("y", filled(1, {3, 4})).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_FALSE(call.output("z")->is_read_only());
  EXPECT_EQ(value_of(state), 14);
}

TEST(State, InitialValuesAndReset) {
  const Session session = sum_session();
  Tensor initial = filled(5, {2, 4});
  // The initial value determines n.
  State state = *State::create(session, {.pairs = {{"y", "z", initial}}});
  initial.elements<float>()[0] = 9;  // the state has a copy
  EXPECT_EQ(value_of(state), 5);
  Call call = stepping_call(session, state, 1, 2);
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(value_of(state), 12);
  ASSERT_TRUE(state.reset().ok());
  EXPECT_EQ(value_of(state), 5);
  EXPECT_EQ(state.steps(), 0);
  ASSERT_TRUE(state.set_value("y", filled(7, {2, 4})).ok());
  EXPECT_EQ(value_of(state), 7);
  EXPECT_EQ(message_of(state.set_value("y", filled(7, {3, 4}))),
            "state y=z: expected f32[2, 4], given f32[3, 4]");
  EXPECT_EQ(state.set_value("y", Tensor()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(message_of(state.value("x").status()),
            "the state has no input \"x\"; did you mean \"y\"?");
}

TEST(State, InvalidOptions) {
  const Session session = sum_session();
  const auto error = [&](const StateOptions& options) {
    return message_of(State::create(session, options).status());
  };
  EXPECT_EQ(error({}), "a state needs at least one pair");
  EXPECT_EQ(error({.pairs = {{"w", "z"}}, .dims = {{"n", 1}}}),
            "state w=z: the module has no input \"w\"; did you mean \"x\"?");
  EXPECT_EQ(error({.pairs = {{"y", "zz"}}, .dims = {{"n", 1}}}),
            "state y=zz: the module has no output \"zz\"; did you mean \"z\"?");
  EXPECT_EQ(error({.pairs = {{"y", "z"}}}),
            "state y=z: input \"y\": dim 0 (n) cannot be computed from the given dims; "
            "give n=NUMBER");
  EXPECT_EQ(error({.pairs = {{"y", "z"}}, .dims = {{"m", 1}}}),
            "the module has no dimension \"m\"; did you mean \"n\"?");
  EXPECT_EQ(error({.pairs = {{"y", "z"}}, .dims = {{"n", -1}}}),
            "dimension n is -1; dimension n must be at least 0");
  EXPECT_EQ(error({.pairs = {{"y", "z"}, {"y", "z"}}, .dims = {{"n", 1}}}),
            "state y=z: input \"y\" is tied twice");
  EXPECT_EQ(error({.pairs = {{"y", "z"}, {"x", "z"}}, .dims = {{"n", 1}}}),
            "state x=z: output \"z\" is tied twice");
  EXPECT_EQ(error({.pairs = {{"y", "z", filled(1, {2, 4})}}, .dims = {{"n", 1}}}),
            "initial value of input \"y\": dim 0 is 2, expected 1 (dimension n)");
  EXPECT_EQ(error({.pairs = {{"y", "z", filled(1, {2, 3})}}}),
            "input \"y\": wrong dim 1: expected f32[n, 4], given f32[2, 3]");
}

TEST(State, InputAndOutputMustHaveOneType) {
  format::ModuleContents contents = test::moving_contents(0, 1);
  contents.functions[0].outputs[1].dims = {"2", "2"};
  contents.functions[0].code.clear();
  test::CodeWriter code;
  code.add(static_cast<uint16_t>(isa::Opcode::alloc_view),
           {2, 1, static_cast<uint32_t>(DType::kF32), 2, 2, 2});
  contents.functions[0].code = code.ret({0, 2}).take();
  const Session session = *Session::create(test::load(contents));
  EXPECT_EQ(message_of(State::create(session, {.pairs = {{"b", "rb"}}}).status()),
            "state b=rb: output \"rb\" is f32[2, 2], expected f32[4], as input \"b\"");
  const Session lists = *Session::create(test::load(test::sequence_contents()));
  EXPECT_EQ(message_of(State::create(lists, {.pairs = {{"xs", "xs"}}}).status()),
            "state xs=xs: \"xs\" is sequence of f32[?], expected a tensor of numbers");
  const Session strings = *Session::create(test::load(test::upper_contents()));
  EXPECT_EQ(message_of(State::create(strings, {.pairs = {{"x", "y"}}}).status()),
            "state x=y: \"x\" is str[2], expected a tensor of numbers");
}

TEST(State, AFailedCallChangesNothing) {
  const Session session = sum_session();
  State state = *State::create(session, rows(3));
  Call call = stepping_call(session, state, 1, 3);
  ASSERT_TRUE(call.run().ok());
  const auto expect_unchanged = [&](const Status& status, StatusCode code) {
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_EQ(value_of(state), 2);
    EXPECT_EQ(state.steps(), 1);
    EXPECT_TRUE(call.outputs().empty());
  };
  expect_unchanged(call.run({.deadline = std::chrono::steady_clock::now()}),
                   StatusCode::kDeadlineExceeded);
  call.cancel();
  expect_unchanged(call.run(), StatusCode::kCancelled);
  ASSERT_TRUE(call.set_input("x", filled(1, {2, 4})).ok());
  expect_unchanged(call.run(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(call.set_input("x", Tensor()).ok());
  expect_unchanged(call.run(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(call.stats().memory.empty());
  ASSERT_TRUE(call.set_input("x", filled(1, {3, 4})).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(value_of(state), 6);
}

TEST(State, ATiedInputOrBufferThatIsSetIsAnError) {
  const Session session = sum_session();
  State state = *State::create(session, rows(3));
  Call call = stepping_call(session, state, 1, 3);
  ASSERT_TRUE(call.set_input("y", filled(1, {3, 4})).ok());
  EXPECT_EQ(message_of(call.run()),
            "input \"y\" is set, but the call has a state with its value: unset the input");
  ASSERT_TRUE(call.set_input("y", Tensor()).ok());
  ASSERT_TRUE(call.set_output("z", filled(1, {3, 4})).ok());
  EXPECT_EQ(message_of(call.run()),
            "output \"z\" has a buffer, but the call has a state that stores it: unset the buffer");
  ASSERT_TRUE(call.set_output("z", Tensor()).ok());
  EXPECT_TRUE(call.run().ok());
  // A view of the state is no input of a call that would overwrite it.
  const Tensor view = *call.output("z");
  ASSERT_TRUE(call.run().ok());
  ASSERT_TRUE(call.set_input("x", view).ok());
  EXPECT_EQ(message_of(call.run()),
            "with the values of the state: output \"z\" overlaps input \"x\"");
  EXPECT_EQ(message_of(sum_session().make_call()->set_state(state)),
            "the state is of another session than the call");
}

// Uses the state while a call runs.
class UsingSink final : public TraceSink {
 public:
  explicit UsingSink(State& state) : state_(state) {}
  void record(const TraceEvent& event) override {
    if (event.kind == TraceEvent::Kind::kLaunch) message = message_of(state_.reset());
  }
  std::string message;

 private:
  State& state_;
};

TEST(State, OneUseAtATime) {
  const Session session = sum_session();
  State state = *State::create(session, rows(3));
  Call call = stepping_call(session, state, 1, 3);
  UsingSink sink(state);
  ASSERT_TRUE(call.run({.trace = &sink}).ok());
  EXPECT_EQ(sink.message,
            "the state is in use: wait for the end of the call or function that uses it");
  EXPECT_EQ(value_of(state), 2);
}

TEST(State, ConcurrentUsesFailOrAreAtomic) {
  const Session session = sum_session();
  State state = *State::create(session, rows(1));
  std::atomic<int> succeeded{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      Call call = stepping_call(session, state, 0, 1);
      for (int step = 0; step < 100; ++step)
        if (call.run().ok())
          ++succeeded;
        else
          (void)state.snapshot();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(succeeded, 0);
  EXPECT_EQ(state.steps(), succeeded);
}

// Results that are inputs, views, or one tensor twice.
TEST(State, MovedValues) {
  const auto step = [](uint32_t ra, uint32_t rb, int steps) {
    const Session session = *Session::create(test::load(test::moving_contents(ra, rb)));
    State state = *State::create(
        session, {.pairs = {{"a", "ra", filled(1, {4})}, {"b", "rb", filled(2, {4})}}});
    Call call = *session.make_call();
    EXPECT_TRUE(call.set_state(state).ok());
    for (int i = 0; i < steps; ++i) EXPECT_TRUE(call.run().ok());
    return std::pair(value_of(state, "a"), value_of(state, "b"));
  };
  for (int steps = 1; steps <= 3; ++steps) {
    EXPECT_EQ(step(0, 1, steps), std::pair(1.0F, 2.0F));
    EXPECT_EQ(step(1, 0, steps), steps % 2 == 1 ? std::pair(2.0F, 1.0F) : std::pair(1.0F, 2.0F));
    EXPECT_EQ(step(2, 0, steps), steps % 2 == 1 ? std::pair(2.0F, 1.0F) : std::pair(1.0F, 2.0F));
    EXPECT_EQ(step(1, 1, steps), std::pair(2.0F, 2.0F));
    EXPECT_EQ(step(2, 2, steps), std::pair(2.0F, 2.0F));
    EXPECT_EQ(step(2, 1, steps), std::pair(2.0F, 2.0F));
    EXPECT_EQ(step(0, 0, steps), std::pair(1.0F, 1.0F));
  }
}

TEST(State, MemoryOfAStateCountsInItsSession) {
  constexpr int64_t kBytes = int64_t{3} * 4 * 4;
  const Session session = sum_session({.memory_limits = {{"global", 5 * kBytes}}});
  const int64_t before = live_bytes(session);
  {
    const State state = *State::create(session, rows(3));
    EXPECT_EQ(live_bytes(session), before + 2 * kBytes);
    const Result<State> forked = state.fork();
    ASSERT_TRUE(forked.ok());
    EXPECT_EQ(live_bytes(session), before + 4 * kBytes);
    EXPECT_EQ(state.fork().status().code(), StatusCode::kResourceLimit);
    // The result of a call is in the state, so that the call needs no memory for it.
    Call call = stepping_call(session, state, 1, 3);
    ASSERT_TRUE(call.run().ok());
    EXPECT_EQ(live_bytes(session), before + 4 * kBytes);
    EXPECT_EQ(call.stats().memory[0].allocations, 0);
    EXPECT_TRUE(call.stats().copies.empty());
  }
  EXPECT_EQ(live_bytes(session), before);
}

TEST(State, AForkIsIndependent) {
  const Session session = sum_session();
  State state = *State::create(session, {.pairs = {{"y", "z", filled(1, {1, 4})}}});
  Call call = stepping_call(session, state, 1, 1);
  ASSERT_TRUE(call.run().ok());
  State forked = *state.fork();
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(value_of(state), 10);
  EXPECT_EQ(value_of(forked), 4);
  EXPECT_EQ(forked.steps(), 1);
  ASSERT_TRUE(call.set_state(forked).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(value_of(forked), 10);
  ASSERT_TRUE(forked.reset().ok());
  EXPECT_EQ(value_of(forked), 1);
  EXPECT_EQ(state.steps(), 2);
}

// Random functions on two states have the results of a model.
TEST(State, RandomSequences) {
  const Session session = sum_session();
  std::mt19937 random(7);
  for (int sequence = 0; sequence < 20; ++sequence) {
    const auto first = static_cast<float>(random() % 4);
    std::vector<State> states = {
        *State::create(session, {.pairs = {{"y", "z", filled(first, {2, 4})}}})};
    std::vector<float> expected = {first};
    Call call = stepping_call(session, states[0], 1, 2);
    for (int i = 0; i < 60; ++i) {
      const size_t at = random() % states.size();
      const auto x = static_cast<float>(random() % 3);
      switch (random() % 7) {
        case 0:
          ASSERT_TRUE(states[at].reset().ok());
          expected[at] = first;
          break;
        case 1:
          ASSERT_TRUE(states[at].set_value("y", filled(x, {2, 4})).ok());
          expected[at] = x;
          break;
        case 2:
          if (states.size() == 4) break;
          states.push_back(*states[at].fork());
          expected.push_back(float{expected[at]});
          break;
        case 3: {
          const size_t to = random() % states.size();
          ASSERT_TRUE(states[to].restore(*states[at].snapshot()).ok());
          expected[to] = expected[at];
          break;
        }
        default: {
          const bool fails = random() % 2 == 0;
          ASSERT_TRUE(call.set_state(states[at]).ok());
          ASSERT_TRUE(call.set_input("x", filled(x, {2, 4})).ok());
          if (fails) call.cancel();
          ASSERT_EQ(call.run().ok(), !fails);
          // Doubles stay exact for 60 steps.
          if (!fails) expected[at] = (expected[at] + x) * 2;
        }
      }
      for (size_t s = 0; s < states.size(); ++s) ASSERT_EQ(value_of(states[s]), expected[s]);
    }
  }
}

}  // namespace
}  // namespace scopevm

// States with values whose size calls change, as caches that grow.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <utility>

#include "scopevm/state.h"
#include "tests/vm/state/state_modules.h"

namespace scopevm {
namespace {

using test::filled;
using test::message_of;
using test::value_of;

// a: f32[n], b: f32[m] -> ra = a. A state of b=ra has the last a.
Session resizing_session(SessionOptions options = {}) {
  return *Session::create(test::load(test::resizing_contents()), std::move(options));
}

StateOptions pair(Tensor initial = {}) { return {.pairs = {{"b", "ra", std::move(initial)}}}; }

int64_t size_of(const State& state) { return state.value("b")->dims()[0]; }

Status run_with(Call& call, float x, int64_t n, const CallOptions& options = {}) {
  EXPECT_TRUE(call.set_input("a", filled(x, {n})).ok());
  return call.run(options);
}

TEST(ResizedState, TheResultBecomesTheValue) {
  const Session session = resizing_session();
  State state = *State::create(session, pair());
  EXPECT_EQ(size_of(state), 0);
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_state(state).ok());
  for (const int64_t n : {3, 5, 2, 0, 1}) {
    ASSERT_TRUE(run_with(call, static_cast<float>(n), n).ok());
    EXPECT_EQ(size_of(state), n);
    EXPECT_TRUE(call.output("ra")->is_read_only());
    EXPECT_EQ(call.output("ra")->dims()[0], n);
  }
  EXPECT_EQ(state.steps(), 5);
  EXPECT_EQ(value_of(state, "b"), 1);
  // The value is that of the state, not a copy.
  const Tensor result = *call.output("ra");
  ASSERT_TRUE(run_with(call, 4, 2).ok());
  EXPECT_EQ(result.elements<float>()[0], 1);
}

TEST(ResizedState, InitialValueResetAndSetValue) {
  const Session session = resizing_session();
  State state = *State::create(session, pair(filled(7, {2})));
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_state(state).ok());
  ASSERT_TRUE(run_with(call, 1, 4).ok());
  ASSERT_TRUE(state.reset().ok());
  EXPECT_EQ(size_of(state), 2);
  EXPECT_EQ(value_of(state, "b"), 7);
  ASSERT_TRUE(state.set_value("b", filled(5, {6})).ok());
  EXPECT_EQ(size_of(state), 6);
  EXPECT_EQ(value_of(state, "b"), 5);
  ASSERT_TRUE(state.reset().ok());
  EXPECT_EQ(value_of(state, "b"), 7);
  EXPECT_EQ(message_of(state.set_value("b", filled(5, {6, 1}))),
            "input \"b\": wrong rank: expected f32[m], given f32[6, 1]");
  EXPECT_EQ(size_of(*State::create(session, {.pairs = {{"b", "ra"}}, .dims = {{"m", 3}}})), 3);
}

// The least size of a dimension that does not permit 0 must be given.
TEST(ResizedState, ADimThatCannotBeZero) {
  format::ModuleContents contents = test::resizing_contents();
  contents.functions[0].dimensions[1].min = 1;
  const Session session = *Session::create(test::load(contents));
  EXPECT_EQ(message_of(State::create(session, pair()).status()),
            "state b=ra: input \"b\": dim 0 (m) cannot be computed from the given dims; "
            "give m=NUMBER");
  State state = *State::create(session, pair(filled(1, {1})));
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_state(state).ok());
  EXPECT_EQ(message_of(state.set_value("b", filled(1, {0}))),
            "state b=ra: dim 0 is 0; dimension m must be at least 1; compile with --dim 'm>=0'");
  ASSERT_TRUE(run_with(call, 1, 0).ok());
  // The next call does not accept the value of this one.
  EXPECT_EQ(
      message_of(run_with(call, 1, 1)),
      "with the values of the state: input \"b\": dim 0 is 0; dimension m must be at least 1; "
      "compile with --dim 'm>=0'");
}

TEST(ResizedState, OnlyNamedDimsCanDiffer) {
  format::ModuleContents contents = test::resizing_contents();
  contents.functions[0].inputs[1].dims = {"4"};
  contents.functions[0].dimensions.pop_back();
  const Session session = *Session::create(test::load(contents));
  EXPECT_EQ(message_of(State::create(session, pair()).status()),
            "state b=ra: output \"ra\" is f32[n], expected f32[4], as input \"b\"");
}

// main(a: f32[n], b: f32[m], c: f32[m]) -> (ra: f32[n], rc: f32[m]): b=ra changes m, and c=rc does
// not.
TEST(ResizedState, ADimThatIsChangedAndIsNot) {
  format::ModuleContents contents = test::resizing_contents();
  contents.functions[0].inputs.push_back({"c", DType::kF32, {"m"}});
  contents.functions[0].outputs.push_back({"rc", DType::kF32, {"m"}});
  contents.functions[0].register_count = 3;
  contents.functions[0].code = test::CodeWriter().ret({0, 2}).take();
  const Session session = *Session::create(test::load(contents));
  EXPECT_EQ(message_of(State::create(session, {.pairs = {{"b", "ra"}, {"c", "rc"}}}).status()),
            "state c=rc: dim 0 (m) has one size, but calls change it in state b=ra");
}

TEST(ResizedState, MemoryIsThatOfTheValues) {
  constexpr int64_t kBytes = 4096;
  constexpr auto kElements = kBytes / 4;
  const Session session = resizing_session({.memory_limits = {{"global", 3 * kBytes}}});
  const auto live = [&] { return (*session.memory_stats())[0].memory.live_bytes; };
  const int64_t before = live();
  {
    State state = *State::create(session, pair());
    Call call = *session.make_call();
    ASSERT_TRUE(call.set_state(state).ok());
    ASSERT_TRUE(run_with(call, 1, kElements).ok());
    EXPECT_EQ(live(), before + kBytes);
    // The fork shares the value.
    State forked = *state.fork();
    EXPECT_EQ(live(), before + kBytes);
    ASSERT_TRUE(run_with(call, 2, 2 * kElements).ok());
    EXPECT_EQ(live(), before + 3 * kBytes);
    EXPECT_EQ(value_of(forked, "b"), 1);
    EXPECT_EQ(run_with(call, 3, kElements).code(), StatusCode::kResourceLimit);
    EXPECT_EQ(value_of(state, "b"), 2);
    ASSERT_TRUE(forked.reset().ok());
    EXPECT_EQ(live(), before + 2 * kBytes);
    ASSERT_TRUE(run_with(call, 3, kElements).ok());
    EXPECT_EQ(live(), before + kBytes);
  }
  EXPECT_EQ(live(), before);
}

// Random functions on states have the results of a model that copies.
TEST(ResizedState, RandomSequences) {
  const Session session = resizing_session();
  std::mt19937 random(11);
  using Value = std::pair<float, int64_t>;
  for (int sequence = 0; sequence < 2000; ++sequence) {
    const Value first(1, static_cast<int64_t>(random() % 3));
    std::vector<State> states = {
        *State::create(session, pair(filled(first.first, {first.second})))};
    std::vector<Value> expected = {first};
    std::optional<std::pair<std::vector<uint8_t>, Value>> saved;
    Call call = *session.make_call();
    for (int i = 0; i < 15; ++i) {
      const size_t at = random() % states.size();
      const Value given(static_cast<float>(random() % 9), static_cast<int64_t>(random() % 70));
      switch (random() % 7) {
        case 0:
          ASSERT_TRUE(states[at].reset().ok());
          expected[at] = first;
          break;
        case 1:
          ASSERT_TRUE(states[at].set_value("b", filled(given.first, {given.second})).ok());
          expected[at] = given;
          break;
        case 2:
          if (states.size() == 4) break;
          states.push_back(*states[at].fork());
          expected.push_back(Value(expected[at]));
          break;
        case 3:
          if (saved) {
            ASSERT_TRUE(states[at].restore(saved->first).ok());
            expected[at] = saved->second;
          }
          break;
        case 4:
          saved.emplace(*states[at].snapshot(), expected[at]);
          break;
        default: {
          const bool fails = random() % 2 == 0;
          ASSERT_TRUE(call.set_state(states[at]).ok());
          if (fails) call.cancel();
          ASSERT_EQ(run_with(call, given.first, given.second).ok(), !fails);
          if (!fails) expected[at] = given;
        }
      }
      for (size_t s = 0; s < states.size(); ++s) {
        ASSERT_EQ(size_of(states[s]), expected[s].second);
        if (expected[s].second > 0) ASSERT_EQ(value_of(states[s], "b"), expected[s].first);
      }
    }
  }
}

}  // namespace
}  // namespace scopevm

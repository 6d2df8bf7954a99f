// Jobs whose states are in memory of several ranks: their values, operations, limits and variants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "scopevm/state.h"
#include "tests/ranks/local_ranks.h"

namespace scopevm {
namespace {

using testing::HasSubstr;

constexpr int kCapacity = 6;

// Two heads with caches, of which each of two ranks has one.
Module decoder(const std::function<void(CompileOptions&)>& change = {}) {
  CompileOptions options;
  options.model_path = SCOPEVM_RANKS_TESTS "/states.test.mlir";
  options.dims = {{"past", {.min = 0}}, {"past_capacity", {.min = kCapacity, .max = kCapacity}}};
  options.states = {"past.*=present.*"};
  options.split = "tensor=2";
  options.threads = 1;
  if (change) change(options);
  auto output = compile(options);
  EXPECT_TRUE(output.ok()) << output.status().message();
  return *Module::load_bytes(output->module);
}

// Small integers.
Tensor row(int number, int64_t rows = 1) {
  Tensor x = *Tensor::allocate(DType::kF32, std::array<int64_t, 2>{rows, 8});
  for (int i = 0; i < 8 * rows; ++i)
    static_cast<float*>(x.data())[i] = static_cast<float>((number * 5 + i * 3) % 7 - 3);
  return x;
}

// The result of a call with these rows.
std::vector<float> step(const Session& session, const State& state, int number, int64_t rows = 1) {
  Call call = *session.make_call();
  EXPECT_TRUE(call.set_state(state).ok());
  EXPECT_TRUE(call.set_input("x", row(number, rows)).ok());
  const Status status = call.run();
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok()) return {};
  const auto* y = static_cast<const float*>(call.output("y")->data());
  return {y, y + 8 * rows};
}

std::vector<std::vector<float>> steps(const Session& session, const State& state, int first,
                                      int end) {
  std::vector<std::vector<float>> all;
  for (int i = first; i < end; ++i) all.push_back(step(session, state, i));
  return all;
}

std::vector<float> elements(const Result<Tensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  if (!tensor.ok()) return {};
  const auto* data = static_cast<const float*>(tensor->data());
  return {data, data + tensor->element_count()};
}

constexpr std::array kCaches = {"past.k.rank0", "past.k.rank1", "past.v.rank0", "past.v.rank1"};

void expect_equal_values(const State& a, const State& b) {
  for (const char* cache : kCaches) EXPECT_EQ(elements(a.value(cache)), elements(b.value(cache)));
}

TEST(RankStates, KeepStatesInTheMemoryOfTheirRank) {
  const Module module = decoder();
  const Session alone = *Session::create(module);
  State expected = *State::create(alone, {});
  LocalRanks ranks(module, 2);
  ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
  const Session& session = *ranks.leader();
  {
    const Result<State> created = State::create(session, {});
    ASSERT_TRUE(created.ok()) << created.status().message();
    State state = *created;
    EXPECT_EQ(steps(session, state, 0, 3), steps(alone, expected, 0, 3));
    expect_equal_values(state, expected);
    // Forks and restored states go on independently.
    const Result<State> forked = state.fork();
    ASSERT_TRUE(forked.ok()) << forked.status().message();
    const std::vector<uint8_t> snapshot = *state.snapshot();
    EXPECT_EQ(snapshot, *expected.snapshot());
    EXPECT_EQ(steps(session, state, 3, 6), steps(alone, expected, 3, 6));
    ASSERT_TRUE(expected.restore(snapshot).ok());
    EXPECT_EQ(steps(session, *forked, 4, 6), steps(alone, expected, 4, 6));
    ASSERT_TRUE(state.restore(snapshot).ok());
    ASSERT_TRUE(expected.restore(snapshot).ok());
    EXPECT_EQ(steps(session, state, 2, 4), steps(alone, expected, 2, 4));
    // Single values, and the first ones.
    Tensor cache = *state.value("past.v.rank1");
    static_cast<float*>(cache.data())[1] = 2;
    ASSERT_TRUE(state.set_value("past.v.rank1", cache).ok());
    ASSERT_TRUE(expected.set_value("past.v.rank1", cache).ok());
    EXPECT_EQ(steps(session, state, 5, 6), steps(alone, expected, 5, 6));
    ASSERT_TRUE(state.reset().ok());
    ASSERT_TRUE(expected.reset().ok());
    expect_equal_values(state, expected);
    EXPECT_EQ(steps(session, state, 1, 3), steps(alone, expected, 1, 3));
    EXPECT_TRUE(session.warm_up({{"n", 2}, {"past", 1}}).ok());
    // Their outputs are not here.
    Call call = *session.make_call();
    ASSERT_TRUE(call.set_state(state).ok());
    ASSERT_TRUE(call.set_input("x", row(0)).ok());
    ASSERT_TRUE(call.run().ok());
    EXPECT_FALSE(call.output("present.k.rank0")->is_empty());
    EXPECT_TRUE(call.output("present.k.rank1")->is_empty());
    DLManagedTensor* exported = nullptr;
    scopevm_status* const refused = scopevm_call_output(call.c_call(), 2, &exported);
    EXPECT_THAT(
        scopevm_status_message(refused),
        HasSubstr("result 2 is in memory of another rank: read it with scopevm_state_value"));
    scopevm_status_free(refused);
  }
  EXPECT_EQ(ranks.job().left(), 0);
  for (const Status& followed : ranks.finish()) EXPECT_TRUE(followed.ok()) << followed.message();
}

// Random operations on several states, some of them interrupted, change a job and one process in
// the same way.
TEST(RankStates, AgreeWithOneProcessAfterRandomOperations) {
  const Module module = decoder();
  const Session alone = *Session::create(module);
  LocalRanks ranks(module, 2);
  ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
  const Session& session = *ranks.leader();
  struct Compared {
    State here, alone;
    int rows = 0;
  };
  std::vector<Compared> states;
  std::mt19937 random(7);
  const auto below = [&](size_t count) { return static_cast<size_t>(random()) % count; };
  int interrupted = 0;
  for (int i = 0; i < 1500; ++i) {
    if (states.empty() || (states.size() < 5 && below(10) == 0)) {
      states.push_back({*State::create(session, {}), *State::create(alone, {})});
      continue;
    }
    const size_t index = below(states.size());
    Compared& compared = states[index];
    switch (below(8)) {
      case 0:
        ASSERT_TRUE(compared.here.reset().ok());
        ASSERT_TRUE(compared.alone.reset().ok());
        compared.rows = 0;
        break;
      case 1:
        if (states.size() < 5)
          states.push_back({*compared.here.fork(), *compared.alone.fork(), compared.rows});
        break;
      case 2: {
        const Compared& from = states[below(states.size())];
        ASSERT_TRUE(compared.here.restore(*from.here.snapshot()).ok());
        ASSERT_TRUE(compared.alone.restore(*from.alone.snapshot()).ok());
        compared.rows = from.rows;
        break;
      }
      case 3:
        states.erase(states.begin() + static_cast<int64_t>(index));
        break;
      case 4: {  // changes the state of the job only if it succeeds
        Call call = *session.make_call();
        ASSERT_TRUE(call.set_state(compared.here).ok());
        ASSERT_TRUE(call.set_input("x", row(i)).ok());
        CallOptions options;
        options.deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(below(200));
        const Status status = call.run(options);
        interrupted += status.code() == StatusCode::kDeadlineExceeded ? 1 : 0;
        if (!status.ok()) break;
        (void)step(alone, compared.alone, i);
        ++compared.rows;
        break;
      }
      default:
        if (compared.rows == kCapacity) break;
        ASSERT_EQ(step(session, compared.here, i), step(alone, compared.alone, i)) << i;
        ++compared.rows;
    }
  }
  // The elements after the rows are of no value: an interrupted call can have changed them.
  for (const Compared& compared : states)
    for (const char* cache : kCaches) {
      std::vector<float> here = elements(compared.here.value(cache)),
                         expected = elements(compared.alone.value(cache));
      here.resize(static_cast<size_t>(compared.rows) * 4);
      expected.resize(here.size());
      EXPECT_EQ(here, expected);
    }
  EXPECT_GT(interrupted, 0);
  EXPECT_EQ(ranks.job().left(), 0);
}

// Calls of main and of a variant have the same states, wherever these are.
TEST(RankStates, ShareStatesBetweenVariants) {
  for (const char* split : {"tensor=2", "pipeline=2", "tensor=2,pipeline=2", "tensor=3"}) {
    SCOPED_TRACE(split);
    const Module module = decoder([&](CompileOptions& options) {
      options.split = split;
      options.variants.push_back({{"n", {.min = 1, .max = 1}}});
    });
    const Session alone = *Session::create(module);
    State expected = *State::create(alone, {});
    LocalRanks ranks(module, module.ranks());
    ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
    State state = *State::create(*ranks.leader(), {});
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(step(*ranks.leader(), state, i, 2 - i % 2), step(alone, expected, i, 2 - i % 2));
    EXPECT_EQ(*state.snapshot(), *expected.snapshot());
  }
}

// Two devices of one rank, each with a state, by rules of placement.
TEST(RankStates, KeepStatesOnSeveralDevices) {
  const Module module = decoder([](CompileOptions& options) {
    options.split = "";
    options.machine_json = R"({
      "devices": [{"name": "cpu", "kind": "cpu"}, {"name": "one", "kind": "cpu", "rank": 1},
                  {"name": "two", "kind": "cpu", "rank": 1}]})";
    options.places = {"input:past.k=one", "output:present.k=one", "input:past.v=two",
                      "output:present.v=two"};
  });
  const Session alone = *Session::create(module);
  State expected = *State::create(alone, {});
  LocalRanks ranks(module, 2);
  ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
  State state = *State::create(*ranks.leader(), {});
  EXPECT_EQ(steps(*ranks.leader(), state, 0, 5), steps(alone, expected, 0, 5));
  for (const char* cache : {"past.k", "past.v"})
    EXPECT_EQ(elements(state.value(cache)), elements(expected.value(cache)));
}

// A state has 4 * 6 * 4 bytes in each of two buffers of a rank. Released bytes can be allocated
// again.
TEST(RankStates, LimitTheStatesOfARank) {
  const Module module = decoder();
  LocalRanks ranks(module, 2, 64, [](int rank) {
    SessionOptions options;
    if (rank == 1) options.memory_limits = {{"cpu1.global", 3 * 2 * 4 * 6 * 4}};
    return options;
  });
  ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
  for (int round = 0; round < 20; ++round) {
    std::vector<State> states;
    for (int i = 0; i < 3; ++i) {
      const Result<State> state = State::create(*ranks.leader(), {});
      ASSERT_TRUE(state.ok()) << state.status().message();
      states.push_back(*state);
    }
    for (const Status& status :
         {State::create(*ranks.leader(), {}).status(), states[0].fork().status()}) {
      EXPECT_EQ(status.code(), StatusCode::kResourceLimit);
      EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1: "));
    }
    for (const State& state : states) EXPECT_EQ(step(*ranks.leader(), state, 0).size(), 8U);
  }
}

TEST(RankStates, RefuseOtherValuesOfTheirStates) {
  const Module module = decoder();
  LocalRanks ranks(module, 2);
  ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
  const Session& session = *ranks.leader();
  Call call = *session.make_call();
  for (const TensorSignature& input : module.signature().inputs) {
    std::vector<int64_t> dims;
    for (const std::string& dim : input.dims)
      dims.push_back(dim == "n" || dim == "past" ? 1 : std::stoll(dim));
    ASSERT_TRUE(call.set_input(input.name, *Tensor::allocate(input.dtype, dims)).ok());
  }
  EXPECT_THAT(std::string(call.run().message()),
              HasSubstr("input \"past.k.rank1\" is in memory of rank 1: only a state can be its "
                        "value"));
  EXPECT_THAT(std::string(State::create(session, {.pairs = {{"past.k.rank1", "present.v.rank1"}}})
                              .status()
                              .message()),
              HasSubstr("the input is in memory of rank 1: expected output \"present.k.rank1\""));
}

}  // namespace
}  // namespace scopevm

// States that a module keeps in one buffer (CompileOptions::states): values and memory of each
// step, and random sequences of operations compared with copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "scopevm/state.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

// Two heads with caches of rows of 4 floats. `y` is the product of x with all rows of the cache,
// which a kernel reads in place, and `first` a copy of the first row.
constexpr char kStateCache[] = R"mlir(
func.func @main(%x: !sv.tensor<f32[b, 2, n, 4]> {sv.name = "x"}, %past: !sv.tensor<f32[b, 2, past, 4]> {sv.name = "past"})
    -> (!sv.tensor<f32[b, 2, n, "past + n"]> {sv.name = "y"}, !sv.tensor<f32[b, 2, 1, 4]> {sv.name = "first"}, !sv.tensor<f32[b, 2, "past + n", 4]> {sv.name = "present"}) {
  %0 = sv.concat %past, %x {axis = 2} : (!sv.tensor<f32[b, 2, past, 4]>, !sv.tensor<f32[b, 2, n, 4]>) -> !sv.tensor<f32[b, 2, "past + n", 4]>
  %1 = sv.matmul %x, %0 {transpose_b = true} : (!sv.tensor<f32[b, 2, n, 4]>, !sv.tensor<f32[b, 2, "past + n", 4]>) -> !sv.tensor<f32[b, 2, n, "past + n"]>
  %2 = sv.slice %0 {starts = #sv.dims<[0, 0, 0, 0]>, sizes = #sv.dims<[b, 2, 1, 4]>, steps = array<i64: 1, 1, 1, 1>} : (!sv.tensor<f32[b, 2, "past + n", 4]>) -> !sv.tensor<f32[b, 2, 1, 4]>
  return %1, %2, %0 : !sv.tensor<f32[b, 2, n, "past + n"]>, !sv.tensor<f32[b, 2, 1, 4]>, !sv.tensor<f32[b, 2, "past + n", 4]>
}
)mlir";
constexpr int64_t kHeads = 2, kWidth = 4, kCapacity = 12;
constexpr int64_t kBufferBytes = kHeads * kCapacity * kWidth * 4;  // of a batch of 1

Module state_module() {
  const TemporaryFile graph(kStateCache);
  CompileOptions options;
  options.model_path = graph.path();
  options.dims = {{"past", {.min = 0}}};
  options.states = {"past=present"};
  const Result<CompileOutput> output = compile(options);
  EXPECT_TRUE(output.ok()) << output.status().message();
  return *Module::load_bytes(output->module);
}

State make_state(const Session& session) {
  return *State::create(session, {.pairs = {}, .dims = {{"b", 1}, {"past_capacity", kCapacity}}});
}

// The rows of a cache: kHeads * kWidth numbers each.
using Rows = std::vector<float>;
int64_t count_of(const Rows& rows) { return std::ssize(rows) / (kHeads * kWidth); }

// Element `channel` of row `row` is rows[row * kHeads * kWidth + head * kWidth + channel].
float at(const Rows& rows, int64_t head, int64_t row, int64_t channel) {
  return rows[static_cast<size_t>((row * kHeads + head) * kWidth + channel)];
}

Tensor tensor_of(const Rows& rows) {
  Tensor tensor = *Tensor::allocate(DType::kF32, {1, kHeads, count_of(rows), kWidth});
  auto element = tensor.elements<float>().begin();
  for (int64_t head = 0; head < kHeads; ++head)
    for (int64_t row = 0; row < count_of(rows); ++row)
      for (int64_t channel = 0; channel < kWidth; ++channel)
        *element++ = at(rows, head, row, channel);
  return tensor;
}

Rows random_rows(std::mt19937_64& random, int64_t count) {
  Rows rows(static_cast<size_t>(count * kHeads * kWidth));
  for (float& x : rows) x = static_cast<float>(random() % 17) - 8;
  return rows;
}

void expect_value(State& state, const Rows& rows) {
  ASSERT_EQ(state.value("past_rows")->dims()[0], count_of(rows));
  const Tensor buffer = *state.value("past");
  ASSERT_THAT(buffer.dims(), testing::ElementsAre(1, kHeads, kCapacity, kWidth));
  for (int64_t head = 0; head < kHeads; ++head)
    for (int64_t row = 0; row < count_of(rows); ++row)
      for (int64_t channel = 0; channel < kWidth; ++channel)
        ASSERT_EQ(buffer.elements<float>()[static_cast<size_t>((head * kCapacity + row) * kWidth +
                                                               channel)],
                  at(rows, head, row, channel));
}

// The results for the new rows `x`, which are the last ones of `all`.
void expect_results(const Call& call, const Rows& x, const Rows& all) {
  const int64_t n = count_of(x), total = count_of(all);
  const Tensor y = *call.output("y");
  ASSERT_THAT(y.dims(), testing::ElementsAre(1, kHeads, n, total));
  for (int64_t head = 0; head < kHeads; ++head)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < total; ++j) {
        float sum = 0;
        for (int64_t c = 0; c < kWidth; ++c) sum += at(x, head, i, c) * at(all, head, j, c);
        ASSERT_EQ(y.elements<float>()[static_cast<size_t>((head * n + i) * total + j)], sum);
      }
  for (int64_t head = 0; head < kHeads; ++head)
    ASSERT_EQ(call.output("first")->elements<float>()[static_cast<size_t>(head * kWidth)],
              at(all, head, 0, 0));
}

Rows joined(Rows rows, const Rows& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

TEST(InPlaceState, TheSignatureDeclaresThePairs) {
  const Module module = state_module();
  const std::vector<TensorSignature>& inputs = module.signature().inputs;
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].state_output, -1);
  EXPECT_EQ(inputs[1].state_output, 2);
  EXPECT_THAT(inputs[1].dims, testing::ElementsAre("b", "2", "past_capacity", "4"));
  EXPECT_EQ(inputs[2].name, "past_rows");
  EXPECT_EQ(inputs[2].state_output, 3);
  EXPECT_EQ(module.signature().outputs[3].name, "past_rows_next");
}

TEST(InPlaceState, AStepCopiesNothingAndAllocatesOnlyItsResults) {
  const Session session = *Session::create(state_module());
  State state = make_state(session);
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_state(state).ok());
  std::mt19937_64 random(1);
  Rows all;
  for (int step = 0; step < kCapacity; ++step) {
    const Rows x = random_rows(random, 1);
    all = joined(all, x);
    ASSERT_TRUE(call.set_input("x", tensor_of(x)).ok());
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    expect_results(call, x, all);
    expect_value(state, all);
    EXPECT_TRUE(call.stats().copies.empty());
    for (const ScopeUse& use : call.stats().memory)
      if (use.scope == "global") {
        // The bound contains the buffer, because a call without a state allocates it.
        EXPECT_EQ(use.bound_bytes - use.peak_bytes, kBufferBytes);
      }
  }
  // The buffer is full.
  ASSERT_TRUE(call.set_input("x", tensor_of(random_rows(random, 1))).ok());
  EXPECT_THAT(std::string(call.run().message()),
              testing::HasSubstr("input \"past\" dim 2 is 12, expected at least 13"));
  expect_value(state, all);
}

// Without a state, the result is another tensor, or the input if the caller passes it for both.
TEST(InPlaceState, ACallWithoutAState) {
  const Session session = *Session::create(state_module());
  std::mt19937_64 random(2);
  const Rows past = random_rows(random, 3), x = random_rows(random, 2);
  Tensor buffer = *Tensor::allocate(DType::kF32, {1, kHeads, kCapacity, kWidth});
  for (float& element : buffer.elements<float>()) element = 100;
  for (int64_t head = 0; head < kHeads; ++head)
    for (int64_t row = 0; row < 3; ++row)
      for (int64_t channel = 0; channel < kWidth; ++channel)
        buffer.elements<float>()[static_cast<size_t>((head * kCapacity + row) * kWidth + channel)] =
            at(past, head, row, channel);
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_input("x", tensor_of(x)).ok());
  ASSERT_TRUE(call.set_input("past", buffer).ok());
  ASSERT_TRUE(call.set_input("past_rows", *Tensor::allocate(DType::kU8, {3, 0})).ok());
  ASSERT_TRUE(call.run().ok());
  expect_results(call, x, joined(past, x));
  EXPECT_EQ(call.output("past_rows_next")->dims()[0], 5);
  const Tensor copy = *call.output("present");
  EXPECT_EQ(buffer.elements<float>()[3 * kWidth], 100);
  EXPECT_EQ(copy.elements<float>()[3 * kWidth], at(x, 0, 0, 0));
  EXPECT_EQ(copy.elements<float>()[5 * kWidth], 100);

  ASSERT_TRUE(call.set_output("present", buffer).ok());
  ASSERT_TRUE(call.run().ok());
  expect_results(call, x, joined(past, x));
  EXPECT_EQ(buffer.elements<float>()[3 * kWidth], at(x, 0, 0, 0));
  EXPECT_EQ(call.output("present")->data(), buffer.data());
}

TEST(InPlaceState, GivenPairsAddTheDeclaredOnes) {
  const Session session = *Session::create(state_module());
  const std::map<std::string, int64_t> dims = {{"b", 1}, {"past_capacity", kCapacity}};
  EXPECT_TRUE(State::create(session, {.pairs = {{"past", "present"}}, .dims = dims})
                  ->value("past_rows")
                  .ok());
  EXPECT_EQ(State::create(session, {.pairs = {}, .dims = {{"b", 1}}}).status().message(),
            "state past=present: input \"past\": dim 2 (past_capacity) cannot be computed from the "
            "given dims; give past_capacity=NUMBER");
}

// Each state and its copy change by the same operations. A call that fails, is cancelled, or has
// too many rows changes nothing.
TEST(InPlaceState, RandomSequencesEqualCopies) {
  const Session session = *Session::create(state_module(), {.threads = 2});
  struct Pair {
    State state;
    Rows rows;
  };
  struct Snapshot {
    std::vector<uint8_t> bytes;
    Rows rows;
  };
  std::atomic<bool> cancelled{true};
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Pair> pairs;
    pairs.push_back({make_state(session), {}});
    std::vector<Snapshot> snapshots;
    Call call = *session.make_call();
    for (int step = 0; step < 40; ++step) {
      Pair& pair = pairs[random() % pairs.size()];
      const uint64_t kind = random() % 20;
      if (kind < 12) {
        const Rows x = random_rows(random, static_cast<int64_t>(1 + random() % 4));
        const Rows all = joined(pair.rows, x);
        CallOptions options;
        if (kind < 2) options.cancel = &cancelled;
        if (kind == 2) options.deadline = std::chrono::steady_clock::now();
        ASSERT_TRUE(call.set_state(pair.state).ok());
        ASSERT_TRUE(call.set_input("x", tensor_of(x)).ok());
        const bool fits = count_of(all) <= kCapacity;
        ASSERT_EQ(call.run(options).ok(), fits && kind > 2);
        if (fits && kind > 2) {
          expect_results(call, x, all);
          pair.rows = all;
        }
      } else if (kind < 14) {
        const Rows rows = pair.rows;
        pairs.push_back({*pair.state.fork(), rows});
      } else if (kind < 16) {
        snapshots.push_back({*pair.state.snapshot(), pair.rows});
      } else if (kind < 19 && !snapshots.empty()) {
        const Snapshot& snapshot = snapshots[random() % snapshots.size()];
        ASSERT_TRUE(pair.state.restore(snapshot.bytes).ok());
        pair.rows = snapshot.rows;
      } else if (kind == 19) {
        ASSERT_TRUE(pair.state.reset().ok());
        pair.rows.clear();
      }
      for (Pair& each : pairs) expect_value(each.state, each.rows);
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << " step " << step;
    }
  }
}

// A scheduler counts the buffer once.
TEST(InPlaceState, ASubmittedCallNeedsNoSecondBuffer) {
  // The results for 2 rows: 2 * 2 products, and one row, of 2 heads.
  constexpr int64_t kResults = kHeads * (2 * 2 + kWidth) * 4;
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{"cpu.global", kBufferBytes + kResults}}});
  const Session session = *Session::create(state_module(), {.scheduler = scheduler});
  State state = make_state(session);
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_state(state).ok());
  std::mt19937_64 random(3);
  ASSERT_TRUE(call.set_input("x", tensor_of(random_rows(random, 2))).ok());
  ASSERT_TRUE(call.submit().ok());
  const Status status = call.wait();
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace scopevm

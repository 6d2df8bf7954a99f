// States whose values grow, with a compiled module: memory of each step, and of submitted calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scopevm/compiler.h"
#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "scopevm/state.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

// A cache of rows of 64 floats, and the sum of its rows.
constexpr char kCache[] = R"mlir(
func.func @main(%x: !sv.tensor<f32[n, 64]> {sv.name = "x"}, %past: !sv.tensor<f32[past, 64]> {sv.name = "past"})
    -> (!sv.tensor<f32[64]> {sv.name = "sum"}, !sv.tensor<f32["past + n", 64]> {sv.name = "present"}) {
  %0 = sv.concat %past, %x {axis = 0} : (!sv.tensor<f32[past, 64]>, !sv.tensor<f32[n, 64]>) -> !sv.tensor<f32["past + n", 64]>
  %1 = sv.reduce_sum %0 {axes = array<i64: 0>, keep_dims = false} : (!sv.tensor<f32["past + n", 64]>) -> !sv.tensor<f32[64]>
  return %1, %0 : !sv.tensor<f32[64]>, !sv.tensor<f32["past + n", 64]>
}
)mlir";
constexpr int64_t kRowBytes = 64 * 4;

Module cache_module() {
  const TemporaryFile graph(kCache);
  CompileOptions options;
  options.model_path = graph.path();
  options.dims = {{"past", {.min = 0}}};
  const Result<CompileOutput> output = compile(options);
  EXPECT_TRUE(output.ok()) << output.status().message();
  return *Module::load_bytes(output->module);
}

Tensor rows(int64_t n, float value) {
  Tensor tensor = *Tensor::allocate(DType::kF32, {n, 64});
  for (float& element : tensor.elements<float>()) element = value;
  return tensor;
}

const StateOptions kPair = {.pairs = {{"past", "present"}}};

TEST(GrowingState, EachStepHasTheMemoryOfItsBound) {
  const Session session = *Session::create(cache_module());
  State state = *State::create(session, kPair);
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_state(state).ok());
  float expected = 0;
  int64_t length = 0;
  for (int step = 0; step < 40; ++step) {
    const int64_t n = step % 3 + 1;
    ASSERT_TRUE(call.set_input("x", rows(n, static_cast<float>(step))).ok());
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    expected += static_cast<float>(n * step);
    length += n;
    EXPECT_EQ(call.output("sum")->elements<float>()[63], expected);
    EXPECT_EQ(state.value("past")->dims()[0], length);
    for (const ScopeUse& use : call.stats().memory)
      EXPECT_EQ(use.peak_bytes, use.bound_bytes) << use.scope;
    EXPECT_TRUE(call.stats().copies.empty());
    // Only the value and the small result live between the calls.
    int64_t live = 0;
    for (const ScopeStats& scope : *session.memory_stats())
      if (scope.scope == "global") live += scope.memory.live_bytes;
    EXPECT_EQ(live, (length + 1) * kRowBytes);
  }
  EXPECT_EQ(state.steps(), 40);
}

// A scheduler counts the values as results of calls that are not released.
TEST(GrowingState, ASubmittedCallNeedsRoomForItsResult) {
  constexpr int64_t kCapacity = 100 * kRowBytes;
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .capacities = {{"cpu.global", kCapacity}}});
  const Session session = *Session::create(cache_module(), {.scheduler = scheduler});
  State state = *State::create(session, kPair);
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_state(state).ok());
  const auto step = [&](int64_t n) {
    EXPECT_TRUE(call.set_input("x", rows(n, 1)).ok());
    const Status submitted = call.submit();
    return submitted.ok() ? call.wait() : submitted;
  };
  const auto held = [&] { return scheduler.stats()->pools[0].held_bytes; };
  ASSERT_TRUE(step(20).ok());
  EXPECT_EQ(held(), 21 * kRowBytes);
  ASSERT_TRUE(step(20).ok());
  EXPECT_EQ(held(), 41 * kRowBytes);
  // The past and the present are in memory together: 40 + 60 rows, and the sum. The call could wait
  // for ever.
  EXPECT_EQ(step(20).message(),
            "cpu.global: the call needs 15616 bytes in addition to the 10240 bytes of its state, "
            "256 bytes "
            "more than the capacity of 25600 bytes");
  EXPECT_EQ(state.value("past")->dims()[0], 40);
  ASSERT_TRUE(step(18).ok());
  EXPECT_EQ(state.value("past")->elements<float>()[0], 1);
  const State forked = *state.fork();
  ASSERT_TRUE(state.reset().ok());
  EXPECT_EQ(held(), 59 * kRowBytes);
}

}  // namespace
}  // namespace scopevm

// What does a step of a stream cost that appends a row to caches of keys and values? Compares a
// module that computes the caches as concatenations (`concat`) with one that keeps them in buffers
// (`in_place`: CompileOptions::states), and both with a plain read of the caches (`read`), the
// limit of any step. The module is the attention of one layer: 2 heads of keys and values with 64
// channels, and 7 heads of queries for each of them; 1 thread.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "scopevm/state.h"

namespace scopevm {
namespace {

constexpr int64_t kHeads = 2, kGroup = 7, kChannels = 64;
constexpr int64_t kSteps = 64;  // before the caches have their first length again

constexpr char kAttention[] = R"mlir(
func.func @main(%q: !sv.tensor<f32[1, 2, 7, 64]> {sv.name = "q"}, %k: !sv.tensor<f32[1, 2, n, 64]> {sv.name = "k"}, %v: !sv.tensor<f32[1, 2, n, 64]> {sv.name = "v"}, %pk: !sv.tensor<f32[1, 2, past, 64]> {sv.name = "past.k"}, %pv: !sv.tensor<f32[1, 2, past, 64]> {sv.name = "past.v"})
    -> (!sv.tensor<f32[1, 2, 7, 64]> {sv.name = "y"}, !sv.tensor<f32[1, 2, "past + n", 64]> {sv.name = "present.k"}, !sv.tensor<f32[1, 2, "past + n", 64]> {sv.name = "present.v"}) {
  %keys = sv.concat %pk, %k {axis = 2} : (!sv.tensor<f32[1, 2, past, 64]>, !sv.tensor<f32[1, 2, n, 64]>) -> !sv.tensor<f32[1, 2, "past + n", 64]>
  %values = sv.concat %pv, %v {axis = 2} : (!sv.tensor<f32[1, 2, past, 64]>, !sv.tensor<f32[1, 2, n, 64]>) -> !sv.tensor<f32[1, 2, "past + n", 64]>
  %s = sv.matmul %q, %keys {transpose_b = true} : (!sv.tensor<f32[1, 2, 7, 64]>, !sv.tensor<f32[1, 2, "past + n", 64]>) -> !sv.tensor<f32[1, 2, 7, "past + n"]>
  %w = sv.softmax %s {axis = 3} : (!sv.tensor<f32[1, 2, 7, "past + n"]>) -> !sv.tensor<f32[1, 2, 7, "past + n"]>
  %y = sv.matmul %w, %values : (!sv.tensor<f32[1, 2, 7, "past + n"]>, !sv.tensor<f32[1, 2, "past + n", 64]>) -> !sv.tensor<f32[1, 2, 7, 64]>
  return %y, %keys, %values : !sv.tensor<f32[1, 2, 7, 64]>, !sv.tensor<f32[1, 2, "past + n", 64]>, !sv.tensor<f32[1, 2, "past + n", 64]>
}
)mlir";

Module compiled(bool in_place) {
  CompileOptions options;
  options.model_path = "attention.mlir";
  const auto* text = reinterpret_cast<const uint8_t*>(kAttention);
  options.model_bytes = {text, sizeof kAttention - 1};
  options.dims = {{"past", {.min = 0}}};
  if (in_place) options.states = {"past.*=present.*"};
  return *Module::load_bytes(compile(options)->module);
}

Tensor filled(const std::vector<int64_t>& dims) {
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  float value = 0;
  for (float& element : tensor.elements<float>()) element = value += 0.001F;
  return tensor;
}

void step(benchmark::State& bench, bool in_place) {
  const int64_t rows = bench.range(0);
  const Session session = *Session::create(compiled(in_place), {.threads = 1});
  StateOptions options;
  if (in_place)
    options.dims = {{"past_capacity", rows + kSteps}};
  else
    options.pairs = {{"past.k", "present.k"}, {"past.v", "present.v"}};
  State state = *State::create(session, options);
  const Tensor cache = filled({1, kHeads, in_place ? rows + kSteps : rows, kChannels});
  const Tensor length = *Tensor::allocate(DType::kU8, {rows, 0});
  Call call = *session.make_call();
  bool is_ok = call.set_input("q", filled({1, kHeads, kGroup, kChannels})).ok() &&
               call.set_input("k", filled({1, kHeads, 1, kChannels})).ok() &&
               call.set_input("v", filled({1, kHeads, 1, kChannels})).ok() &&
               call.set_state(state).ok() && state.set_value("past.k", cache).ok() &&
               state.set_value("past.v", cache).ok();
  const auto start_again = [&] {
    is_ok = is_ok && (in_place ? state.set_value("past_rows", length).ok()
                               : state.set_value("past.k", cache).ok() &&
                                     state.set_value("past.v", cache).ok());
  };
  start_again();
  for (int64_t i = 1; bench.KeepRunning(); ++i) {
    is_ok = is_ok && call.run().ok();
    if (i % kSteps != 0) continue;
    bench.PauseTiming();
    start_again();
    bench.ResumeTiming();
  }
  if (!is_ok) bench.SkipWithError("a step failed");
  bench.SetBytesProcessed(bench.iterations() * 2 * kHeads * rows * kChannels * 4);
}

void concat(benchmark::State& bench) { step(bench, false); }
void in_place(benchmark::State& bench) { step(bench, true); }

void read(benchmark::State& bench) {
  const int64_t count = 2 * kHeads * bench.range(0) * kChannels;
  const std::vector<float> cache(static_cast<size_t>(count), 1);
  for (auto _ : bench) {
    // Independent sums, so that the read and not an addition's latency takes the time.
    float sums[64] = {};
    for (size_t i = 0; i < cache.size(); i += 64)
      for (size_t j = 0; j < 64; ++j) sums[j] += cache[i + j];
    benchmark::DoNotOptimize(sums);
  }
  bench.SetBytesProcessed(bench.iterations() * count * 4);
}

BENCHMARK(concat)->Arg(256)->Arg(4000)->Arg(32000)->Unit(benchmark::kMicrosecond);
BENCHMARK(in_place)->Arg(256)->Arg(4000)->Arg(32000)->Unit(benchmark::kMicrosecond);
BENCHMARK(read)->Arg(256)->Arg(4000)->Arg(32000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace scopevm

BENCHMARK_MAIN();

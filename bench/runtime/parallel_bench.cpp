// What is the overhead of a parallel loop? Each loop has `items` items of about 1 us each. The
// lower bound is `items` us with one worker, and half of it with two.
#include <benchmark/benchmark.h>

#include <memory>

#include "runtime/cpu/parallel.h"

namespace scopevm::runtime {
namespace {

// A chain of dependent multiply-adds: about 1 us per item.
void work(void*, int64_t begin, int64_t end, int64_t) {
  for (int64_t i = begin; i < end; ++i) {
    float x = static_cast<float>(i);
    for (int step = 0; step < 350; ++step) x = x * 0.999F + 1.0F;
    benchmark::DoNotOptimize(x);
  }
}

void Loop(benchmark::State& state) {
  const std::unique_ptr<Executor> executor =
      make_default_executor(static_cast<int>(state.range(0)));
  for (auto _ : state) executor->parallel_for(state.range(1), 1, work, nullptr);
}
BENCHMARK(Loop)
    ->ArgNames({"threads", "items"})
    ->ArgsProduct({{1, 2}, {2, 10, 50, 200, 1000}})
    ->UseRealTime();

}  // namespace
}  // namespace scopevm::runtime

BENCHMARK_MAIN();

// What is the overhead of the VM? Measures the time of frequent instructions and of a loop
// iteration in a steady-state call, and the time of a call that only allocates a storage and a
// tensor. All measured time is overhead, because the kernels are empty.
#include <benchmark/benchmark.h>

#include "scopevm/session.h"
#include "tests/vm/modules/overhead_cases.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

void run(benchmark::State& state, Call call, int64_t items) {
  for (auto _ : state)
    if (!call.run().ok()) state.SkipWithError("the call failed");
  state.SetItemsProcessed(state.iterations() * items);
}

void loop_iteration(benchmark::State& state) {
  constexpr int64_t kIterations = 1000;
  const int64_t dims[] = {kIterations + 2};
  Call call = *(*Session::create(test::load(test::loop_contents()))).make_call();
  if (!call.set_input(0, *Tensor::allocate(DType::kF32, dims)).ok())
    state.SkipWithError("the input was refused");
  run(state, std::move(call), kIterations);
}

}  // namespace
}  // namespace scopevm

int main(int argc, char** argv) {
  using namespace scopevm;
  for (const test::OverheadCase& each : test::overhead_cases())
    benchmark::RegisterBenchmark(each.name, [&each](benchmark::State& state) {
      run(state, *(*Session::create(test::load(each.make()))).make_call(), each.items);
    });
  benchmark::RegisterBenchmark("LoopIteration", loop_iteration);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

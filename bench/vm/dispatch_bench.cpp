// What is the overhead of the VM? Measures the time of frequent instructions and of a loop
// iteration in a steady-state call, and the time of a call that only allocates a storage and a
// tensor. All measured time is overhead, because the kernels are empty.
#include <benchmark/benchmark.h>

#include <vector>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using test::CodeWriter;

// Returns a module with a function main() without results. It allocates a storage and a tensor, and
// then executes the code that `add` appends, `count` times.
format::ModuleContents repeated(int count, void (*add)(CodeWriter&)) {
  format::ModuleContents contents = test::empty_contents();
  contents.constants = {};
  contents.launches = {
      {.kernel = test::kNothing, .grid = {1}, .grain = {1}, .bytes = {{4096}, {4096}, {4096}}}};
  CodeWriter code;
  code.alloc_storage(0, 1, 4096).alloc_tensor(1, 0, 0, 4096, DType::kF32, {4, 8, 32});
  for (int i = 0; i < count; ++i) add(code);
  code.ret({});
  format::FunctionDecl function;
  function.name = "main";
  function.register_count = 4;
  function.slot_count = 4;
  function.code = code.take();
  contents.functions.push_back(std::move(function));
  return contents;
}

constexpr int kInstructions = 1000;

void run(benchmark::State& state, format::ModuleContents contents, int64_t items) {
  const Session session = *Session::create(test::load(std::move(contents)));
  Call call = *session.make_call();
  for (auto _ : state)
    if (!call.run().ok()) state.SkipWithError("the call failed");
  state.SetItemsProcessed(state.iterations() * items);
}

void EmptyCall(benchmark::State& state) {
  run(state, repeated(0, [](CodeWriter&) {}), 1);
}
BENCHMARK(EmptyCall);

// Like EmptyCall, but the storage is allocated in the frame instead of the workspace.
void EmptyCallOnTheStack(benchmark::State& state) {
  format::ModuleContents contents = repeated(0, [](CodeWriter&) {});
  constexpr size_t kPoolOfTheStorage = 2;  // index of the pool's word in the first instruction
  contents.functions[0].code[kPoolOfTheStorage] = static_cast<uint32_t>(contents.pools.size());
  contents.pools.push_back({"global.stack", format::PoolKind::kStack, 0, 4096});
  run(state, std::move(contents), 1);
}
BENCHMARK(EmptyCallOnTheStack);

void Move(benchmark::State& state) {
  // Opcode 64 is `move`.
  run(state, repeated(kInstructions, [](CodeWriter& code) { code.add(64, {2, 1}); }),
      kInstructions);
}
BENCHMARK(Move);

void AllocTensor(benchmark::State& state) {
  run(state,
      repeated(kInstructions,
               [](CodeWriter& code) { code.alloc_tensor(2, 0, 64, 1024, DType::kF32, {4, 8, 8}); }),
      kInstructions);
}
BENCHMARK(AllocTensor);

void LaunchOfAnEmptyKernel(benchmark::State& state) {
  run(state, repeated(kInstructions, [](CodeWriter& code) { code.launch(0, {1, 1, 1}); }),
      kInstructions);
}
BENCHMARK(LaunchOfAnEmptyKernel);

void AllocAndFreeAStorage(benchmark::State& state) {
  // Opcode 19 is `kill`, which frees the storage.
  run(state,
      repeated(kInstructions,
               [](CodeWriter& code) { code.alloc_storage(2, 0, 1024).add(19, {2}); }),
      kInstructions);
}
BENCHMARK(AllocAndFreeAStorage);

void LoopIteration(benchmark::State& state) {
  const int64_t dims[] = {kInstructions + 2};
  const Session session = *Session::create(test::load(test::loop_contents()));
  Call call = *session.make_call();
  if (!call.set_input(0, *Tensor::allocate(DType::kF32, dims)).ok())
    state.SkipWithError("the input was refused");
  for (auto _ : state)
    if (!call.run().ok()) state.SkipWithError("the call failed");
  state.SetItemsProcessed(state.iterations() * kInstructions);
}
BENCHMARK(LoopIteration);

}  // namespace
}  // namespace scopevm

BENCHMARK_MAIN();

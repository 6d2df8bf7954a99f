// What does a submitted call cost in addition to its run? Measures the time from submit() to the
// call of its function, for a call that returns at once: alone, and with many in flight. The
// baseline is run() without a scheduler. FiberSwitch is the cost of one suspension and resumption.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/run/fiber/fiber.h"

namespace scopevm {
namespace {

format::ModuleContents empty_call() {
  format::ModuleContents contents = test::empty_contents();
  contents.constants = {};
  test::CodeWriter code;
  code.ret({});
  format::FunctionDecl function;
  function.name = "main";
  function.code = code.take();
  contents.functions.push_back(std::move(function));
  return contents;
}

void RunWithoutScheduler(benchmark::State& state) {
  const Session session = *Session::create(test::load(empty_call()));
  Call call = *session.make_call();
  for (auto _ : state)
    if (!call.run().ok()) state.SkipWithError("the call failed");
}
BENCHMARK(RunWithoutScheduler);

// state.range(0) calls are in flight; the time is that of each. The worker waits actively for
// state.range(1) microseconds before it sleeps.
void SubmitToCallback(benchmark::State& state) {
  const auto count = static_cast<int>(state.range(0));
  const Scheduler scheduler =
      *Scheduler::create({.workers = 1, .spin = std::chrono::microseconds(state.range(1))});
  SessionOptions options;
  options.scheduler = scheduler;
  const Session session = *Session::create(test::load(empty_call()), options);
  std::vector<Call> calls;
  for (int i = 0; i < count; ++i) calls.push_back(*session.make_call());
  std::atomic<int> ended = 0;
  for (auto _ : state) {
    ended = 0;
    for (Call& call : calls)
      if (!call.submit({}, [&](const Status&) { ++ended; }).ok()) state.SkipWithError("refused");
    // Without this, the thread would take the CPU of a worker.
    while (ended < count) std::this_thread::yield();
    for (Call& call : calls) (void)call.wait();
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(SubmitToCallback)->ArgsProduct({{1, 64, 4096}, {0, 100}})->UseRealTime();

// submit() itself runs the call.
void SubmitHere(benchmark::State& state) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  SessionOptions options;
  options.scheduler = scheduler;
  const Session session = *Session::create(test::load(empty_call()), options);
  Call call = *session.make_call();
  SubmitOptions here;
  here.can_run_here = true;
  int64_t ended = 0;
  for (auto _ : state)
    if (!call.submit(here, [&](const Status&) { ++ended; }).ok()) state.SkipWithError("refused");
  if (ended != state.iterations()) state.SkipWithError("a worker ran a call");
}
BENCHMARK(SubmitHere);

void FiberSwitch(benchmark::State& state) {
  const std::unique_ptr<vm::Fiber> fiber = vm::Fiber::create();
  struct Loop {
    vm::Fiber& fiber;
    bool is_ending = false;
  } loop{*fiber};
  fiber->start(
      [](void* context) {
        auto& running = *static_cast<Loop*>(context);
        while (!running.is_ending) running.fiber.suspend();
      },
      &loop);
  for (auto _ : state) fiber->resume();
  loop.is_ending = true;
  fiber->resume();
}
BENCHMARK(FiberSwitch);

}  // namespace
}  // namespace scopevm

BENCHMARK_MAIN();

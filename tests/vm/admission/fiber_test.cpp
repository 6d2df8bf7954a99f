// Fibers: suspension on any thread, hand-over to the stack of the worker, and the stack that the
// interpreter needs.
#include "vm/run/fiber/fiber.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/without_exceptions.h"
#include "scopevm/session.h"
#include "tests/vm/admission/scheduler_calls.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/api/module_access.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/request.h"
#include "vm/run/fiber/call_fiber.h"

namespace scopevm::vm {
namespace {

// A function that suspends itself `count` times.
struct Counter {
  std::unique_ptr<Fiber> fiber = Fiber::create();
  int count = 0;
  int done = 0;
  // Deep frames with contents that must survive the suspension.
  __attribute__((noinline)) int descend(int depth) {
    volatile char bytes[64];
    bytes[depth % 64] = static_cast<char>(depth);
    if (depth == 0) fiber->suspend();
    const int below = depth == 0 ? 0 : descend(depth - 1);
    return below + (bytes[depth % 64] == static_cast<char>(depth) ? 1 : 0);
  }
  static void run(void* self) {
    auto& counter = *static_cast<Counter*>(self);
    for (counter.done = 0; counter.done < counter.count; ++counter.done)
      EXPECT_EQ(counter.descend(counter.done % 50), counter.done % 50 + 1);
  }
};

TEST(Fiber, IsResumedOnAnyThreadAndUsedAgain) {
  std::mt19937 random(3);
  std::vector<Counter> counters(20);
  for (int round = 0; round < 3; ++round) {
    for (Counter& counter : counters) {
      counter.count = static_cast<int>(random() % 20);
      counter.fiber->start(Counter::run, &counter);
    }
    for (bool is_active = true; is_active;) {
      is_active = false;
      std::thread([&] {
        for (Counter& counter : counters) {
          if (counter.fiber->has_ended() || random() % 2 == 0) continue;
          counter.fiber->resume();
        }
      }).join();
      for (const Counter& counter : counters) is_active |= !counter.fiber->has_ended();
    }
    for (const Counter& counter : counters) EXPECT_EQ(counter.done, counter.count);
  }
}

// Runs a function on a fiber that waits for nothing.
class TestFiber final : public CallFiber {
 public:
  explicit TestFiber(std::function<void(CallFiber&)> function, std::unique_ptr<Fiber> fiber)
      : CallFiber(std::move(fiber)), function_(std::move(function)) {}
  void wake() noexcept override {}

 private:
  void body() override { function_(*this); }
  void wake_at(Time) override {}
  const std::function<void(CallFiber&)> function_;
};

TEST(CallFiber, FunctionsRunOnTheStackOfTheWorker) {
  std::string thrown;
  int sum = 0;
  const char* worker_frame = nullptr;
  TestFiber fiber(
      [&](CallFiber& self) {
        for (int i = 0; i < 3; ++i) sum += self.on_worker([&] { return i; });
        const Status status = runtime::without_exceptions([&]() -> Status {
          self.on_worker([]() -> void { throw std::runtime_error("from the worker"); });
          return {};
        });
        thrown = status.message();
        self.on_worker([&] {
          volatile char large[512 << 10];  // more than the stack of the fiber
          large[0] = 1;
          worker_frame = const_cast<const char*>(large);
        });
      },
      Fiber::create());
  EXPECT_TRUE(fiber.run());
  EXPECT_EQ(sum, 3);
  EXPECT_NE(thrown.find("from the worker"), std::string::npos);
  EXPECT_NE(worker_frame, nullptr);
}

// The stack has room for several times what a call uses.
TEST(CallFiber, StackOfTheInterpreter) {
  const Scheduler scheduler = *Scheduler::create({.workers = 1});
  const auto run = [&](const format::ModuleContents& contents, std::vector<Tensor> inputs) {
    SessionOptions options;
    options.scheduler = scheduler;
    const auto session =
        *BoundSession::create(ModuleAccess::loaded(test::load(contents)), std::move(options));
    Request request(session);
    request.inputs = std::move(inputs);
    for (size_t i = 0; i < request.dimensions.size(); ++i)
      request.dimensions[i] = request.inputs[0].dims()[0];
    std::unique_ptr<Fiber> stack = Fiber::create();
    const Fiber& used = *stack;
    TestFiber fiber([&](CallFiber& self) { request.run(&self); }, std::move(stack));
    EXPECT_TRUE(fiber.run());
    EXPECT_TRUE(request.wait({})->ok()) << request.wait({})->message();
    EXPECT_GT(used.used_stack_bytes(), 0U);
    EXPECT_LE(used.used_stack_bytes(), Fiber::kStackBytes / 4);
  };
  run(test::sum_contents(), {test::floats(3), test::floats(3)});
  run(test::recursive_contents(), {*Tensor::allocate(DType::kF32, {100})});
  run(test::loop_contents(), {*Tensor::allocate(DType::kF32, {100})});
}

}  // namespace
}  // namespace scopevm::vm

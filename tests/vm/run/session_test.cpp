// Sessions and calls with hand-written modules: results, memory statistics, loops, recursion,
// output buffers and executors of the caller, and concurrent calls of one session.
#include "scopevm/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/vm/modules/test_modules.h"
#include "vm/api/module_access.h"
#include "vm/format/assembly/assembler.h"
#include "vm/isa/opcodes.h"
#include "vm/load/loaded_module.h"

namespace scopevm {
namespace {

using test::load;
using test::sum_contents;
using ::testing::HasSubstr;

Tensor floats(std::vector<int64_t> dims, float first) {
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  std::iota(tensor.elements<float>().begin(), tensor.elements<float>().end(), first);
  return tensor;
}

Session session_of(format::ModuleContents contents, SessionOptions options = {}) {
  Result<Session> session = Session::create(load(std::move(contents)), std::move(options));
  EXPECT_TRUE(session.ok()) << session.status().message();
  return *std::move(session);
}

void expect_sum(const Tensor& z, int64_t n, float x, float y) {
  ASSERT_EQ(z.dims().size(), 2U);
  EXPECT_EQ(z.dims()[0], n);
  EXPECT_EQ(z.dims()[1], 4);
  for (int64_t i = 0; i < n * 4; ++i)
    ASSERT_EQ(z.elements<float>()[i], (x + y + 2 * static_cast<float>(i)) * 2) << i;
}

const ScopeUse& scope(const CallStats& stats, std::string_view name) {
  for (const ScopeUse& use : stats.memory)
    if (use.scope == name) return use;
  ADD_FAILURE() << "no scope " << name;
  return stats.memory.front();
}

TEST(Session, RunsAtEverySize) {
  const Session session = session_of(sum_contents());
  for (const int64_t n : {1, 7, 1000, 0, 3}) {
    const std::vector<Tensor> inputs{floats({n, 4}, 1), floats({n, 4}, 5)};
    Result<std::vector<Tensor>> results = session.call(inputs);
    ASSERT_TRUE(results.ok()) << results.status().message();
    ASSERT_EQ(results->size(), 1U);
    expect_sum(results->front(), n, 1, 5);
  }
}

TEST(Session, SplitsLaunchesOverThreads) {
  const Session session = session_of(sum_contents(), {.threads = 3});
  for (int round = 0; round < 20; ++round) {
    Result<std::vector<Tensor>> results =
        session.call(std::vector{floats({1000, 4}, 1), floats({1000, 4}, 2)});
    ASSERT_TRUE(results.ok()) << results.status().message();
    expect_sum(results->front(), 1000, 1, 2);
  }
}

TEST(Session, WarmUpTakesTheMemoryOfOneCall) {
  const Session session = session_of(sum_contents(), {.threads = 2});
  EXPECT_THAT(std::string(session.warm_up().message()), HasSubstr("dim 0 (n) cannot be computed"));
  EXPECT_THAT(std::string(session.warm_up({{"rows", 3}}).message()), HasSubstr("rows"));
  ASSERT_TRUE(session.warm_up({{"n", 1000}}).ok());
  const auto taken = [&] {
    int64_t bytes = 0;
    for (const ScopeStats& pool : *session.memory_stats())
      bytes += pool.memory.live_bytes + pool.memory.cached_bytes;
    return bytes;
  };
  const int64_t before = taken();
  EXPECT_GT(before, 0);
  ASSERT_TRUE(session.call(std::vector{floats({1000, 4}, 1), floats({1000, 4}, 2)}).ok());
  EXPECT_EQ(taken(), before);
  const std::atomic<bool> cancelled{true};
  EXPECT_EQ(session.warm_up({{"n", 1000}}, {.cancel = &cancelled}).code(), StatusCode::kCancelled);
}

TEST(Session, ResultsOutliveSessionAndModule) {
  Tensor z;
  {
    const Session session = session_of(sum_contents());
    z = session.call(std::vector{floats({5, 4}, 0), floats({5, 4}, 1)})->front();
  }
  expect_sum(z, 5, 0, 1);
}

TEST(Session, UsesExactlyTheBound) {
  for (const int threads : {1, 3}) {
    const Module module = load(sum_contents());
    Call call = *Session::create(module, {.threads = threads})->make_call();
    for (const int64_t n : {1, 100, 0, 999}) {
      ASSERT_TRUE(call.set_input("x", floats({n, 4}, 0)).ok());
      ASSERT_TRUE(call.set_input("y", floats({n, 4}, 0)).ok());
      const Status status = call.run();
      ASSERT_TRUE(status.ok()) << status.message();
      Result<MemoryBound> bound = module.memory_bound({{"n", n}}, threads);
      ASSERT_TRUE(bound.ok()) << bound.status().message();
      ASSERT_EQ(bound->scopes.size(), 2U);
      for (const ScopeBound& expected : bound->scopes) {
        const ScopeUse& use = scope(call.stats(), expected.scope);
        EXPECT_EQ(use.device, "cpu");
        EXPECT_EQ(use.bound_bytes, expected.bytes);
        EXPECT_EQ(use.peak_bytes, expected.bytes);
        EXPECT_EQ(use.lower_bound_bytes, expected.lower_bound_bytes);
        EXPECT_EQ(use.allocations, 1);
      }
      EXPECT_EQ(scope(call.stats(), "global.workspace").bound_bytes, 16 * n + 64 * threads);
      EXPECT_EQ(scope(call.stats(), "global").bound_bytes, 16 * n);
    }
  }
}

TEST(Session, WritesIntoTheCallersBuffer) {
  Call call = *session_of(sum_contents()).make_call();
  Tensor z = floats({6, 4}, 0);
  ASSERT_TRUE(call.set_input(0, floats({6, 4}, 3)).ok());
  ASSERT_TRUE(call.set_input(1, floats({6, 4}, 4)).ok());
  EXPECT_EQ(call.set_output("z", *Tensor::allocate(DType::kI32, {3, 4})).message(),
            "output \"z\": wrong element type: expected f32[n, 4], given i32[3, 4]");
  EXPECT_EQ(call.set_output("z", floats({12}, 0)).message(),
            "output \"z\": wrong rank: expected f32[n, 4], given f32[12]");
  EXPECT_EQ(call.set_output("z", floats({4, 3}, 0)).message(),
            "output \"z\": wrong dim 1: expected f32[n, 4], given f32[4, 3]");
  ASSERT_TRUE(call.set_output("z", z).ok());
  const Status status = call.run();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(call.outputs().front().data(), z.data());
  expect_sum(z, 6, 3, 4);
  EXPECT_EQ(scope(call.stats(), "global").allocations, 0);
  EXPECT_EQ(scope(call.stats(), "global.workspace").allocations, 1);

  ASSERT_TRUE(call.set_output("z", Tensor()).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_NE(call.outputs().front().data(), z.data());
}

// Each iteration allocates the result again, and only the storage of the last iteration becomes the
// result. The VM therefore cannot use the caller's buffer as this storage, and copies the result.
TEST(Session, CopiesAResultAllocatedInALoopToTheCallersBuffer) {
  Result<format::ModuleContents> contents = format::assemble(R"(
    scopevm_module 0.15 producer "test"
    device "cpu" kind "cpu"
    pool "global" heap device 0 limit -1
    function "main" registers 3 slots 1 {
      input "x" f32 ["4"]
      output "y" f32 ["4"]
      code {
        again:
        %r1 = alloc_storage @global size=16
        %r2 = alloc_tensor %r1 offset=0 bytes=16 f32 [4]
        device_copy to=%r2 to_pool=@global from=%r0 from_pool=@global
        add_slot dst=s0 by=1
        branch_less a=s0 b=3 then_to=again else_to=done
        done:
        ret (%r2)
      }
    })",
                                                             "test.sva");
  ASSERT_TRUE(contents.ok()) << contents.status().message();
  Call call = *session_of(*std::move(contents)).make_call();
  const Tensor y = floats({4}, 0);
  ASSERT_TRUE(call.set_input(0, floats({4}, 7)).ok());
  ASSERT_TRUE(call.set_output(0, y).ok());
  for (int run = 0; run < 2; ++run) {
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(call.outputs().front().data(), y.data());
    EXPECT_EQ(y.elements<float>()[3], 10);
    EXPECT_EQ(scope(call.stats(), "global").allocations, 3);
    EXPECT_EQ(scope(call.stats(), "global").peak_bytes, 32);
  }
}

TEST(Session, ServesManyThreads) {
  const Session session = session_of(sum_contents(), {.threads = 2});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 200; ++round) {
        const int64_t n = 1 + (t * 37 + round * 11) % 300;
        const auto first = static_cast<float>(t);
        Result<std::vector<Tensor>> results =
            session.call(std::vector{floats({n, 4}, first), floats({n, 4}, 1)});
        if (!results.ok() || results->front().dims()[0] != n) {
          ++wrong;
          continue;
        }
        for (int64_t i = 0; i < n * 4; ++i)
          if (results->front().elements<float>()[i] != (first + 1 + 2 * static_cast<float>(i)) * 2)
            ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
}

TEST(Session, LoopsUntilTheConditionIsZero) {
  const Session session = session_of(test::loop_contents());
  Result<std::vector<Tensor>> results = session.call(std::vector{floats({500}, 0)});
  ASSERT_TRUE(results.ok()) << results.status().message();
  ASSERT_EQ(results->front().rank(), 1);
  EXPECT_EQ(results->front().dims()[0], 0);
}

TEST(Session, LimitsRecursion) {
  const Session session = session_of(test::recursive_contents());
  Result<std::vector<Tensor>> deep = session.call(std::vector{floats({900}, 0)});
  ASSERT_TRUE(deep.ok()) << deep.status().message();
  EXPECT_EQ(deep->front().dims()[0], 1);
  deep = session.call(std::vector{floats({5000}, 0)});
  ASSERT_FALSE(deep.ok());
  EXPECT_EQ(deep.status().code(), StatusCode::kResourceLimit);
  EXPECT_NE(deep.status().message().find("nested calls"), std::string::npos);
  for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
  EXPECT_TRUE(session.call(std::vector{floats({10}, 0)}).ok());
}

TEST(Session, CopiesAResultThatIsAnInput) {
  format::ModuleContents contents = sum_contents();
  contents.functions[0].code = test::CodeWriter().ret({1}).take();
  contents.functions[0].memory.clear();
  const Session session = session_of(std::move(contents));
  const Tensor y = floats({3, 4}, 7);
  Result<std::vector<Tensor>> results = session.call(std::vector{floats({3, 4}, 0), y});
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_NE(results->front().data(), y.data());
  EXPECT_EQ(results->front().elements<float>()[11], 18);
}

TEST(Session, EachResultHasItsOwnStorage) {
  format::ModuleContents contents = sum_contents();
  format::FunctionDecl& function = contents.functions[0];
  // Appends register 6 to the values of `ret`, so that both results refer to one storage.
  function.code[function.code.size() - 2] = 2;
  function.code[function.code.size() - 3] += 1 << 16;
  function.code.push_back(6);
  function.outputs.push_back({"z2", DType::kF32, {"n", "4"}});
  function.memory.push_back({0, "z2", true, 0, 0, "16*n"});
  Call call = *session_of(std::move(contents)).make_call();
  ASSERT_TRUE(call.set_input(0, floats({3, 4}, 1)).ok());
  ASSERT_TRUE(call.set_input(1, floats({3, 4}, 2)).ok());
  for (const bool is_callers : {false, true}) {
    ASSERT_TRUE(call.set_output("z", is_callers ? floats({3, 4}, 0) : Tensor()).ok());
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(call.outputs().size(), 2U);
    EXPECT_NE(call.outputs()[0].data(), call.outputs()[1].data());
    for (const Tensor& output : call.outputs()) expect_sum(output, 3, 1, 2);
    EXPECT_EQ(scope(call.stats(), "global").bound_bytes, 2 * 48);
    EXPECT_EQ(scope(call.stats(), "global").peak_bytes, is_callers ? 48 : 2 * 48);
  }
}

// Runs every range on the calling thread. The worker indices are 3, 2, 1, 0, 3, ...
class CountingExecutor final : public Executor {
 public:
  int threads() const override { return 4; }
  void parallel_for(int64_t total, int64_t grain, Body body, void* context) override {
    ++loops;
    this->grain = grain;
    grain = std::max<int64_t>(grain, 1);
    for (int64_t begin = 0, worker = 3; begin < total; begin += grain, worker = (worker + 3) % 4)
      body(context, begin, std::min(total, begin + grain), worker);
  }
  std::atomic<int> loops{0};
  std::atomic<int64_t> grain{0};  // of the last loop
};

TEST(Session, RunsLoopsOnTheCallersExecutor) {
  auto executor = std::make_shared<CountingExecutor>();
  const Session session = session_of(sum_contents(), {.executor = executor});
  EXPECT_EQ(session.threads(), 4);
  Result<std::vector<Tensor>> results =
      session.call(std::vector{floats({100, 4}, 1), floats({100, 4}, 2)});
  ASSERT_TRUE(results.ok());
  expect_sum(results->front(), 100, 1, 2);
  EXPECT_EQ(executor->loops, 2);
}

TEST(Session, ExecutorsGetAPositiveGrain) {
  format::ModuleContents contents = sum_contents();
  for (format::LaunchDecl& launch : contents.launches) launch.grain = isa::Int::immediate(0);
  auto executor = std::make_shared<CountingExecutor>();
  const Session session = session_of(std::move(contents), {.executor = executor});
  Result<std::vector<Tensor>> results =
      session.call(std::vector{floats({100, 4}, 1), floats({100, 4}, 2)});
  ASSERT_TRUE(results.ok());
  expect_sum(results->front(), 100, 1, 2);
  EXPECT_EQ(executor->grain, 1);
}

TEST(Session, StatisticsOfARunWithInvalidInputsAreEmpty) {
  Call call = *session_of(sum_contents()).make_call();
  ASSERT_TRUE(call.set_input(0, floats({6, 4}, 3)).ok());
  ASSERT_TRUE(call.set_input(1, floats({6, 4}, 4)).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.stats().function, "main");
  ASSERT_TRUE(call.set_input(1, Tensor()).ok());
  EXPECT_FALSE(call.run().ok());
  EXPECT_EQ(call.stats().function, "");
  EXPECT_EQ(call.stats().latency_ns, 0);
  EXPECT_TRUE(call.stats().memory.empty());
}

TEST(Session, ModuleWithoutHostCodeNeedsNoImageForThisCpu) {
  format::ModuleContents contents = test::empty_contents();
  contents.functions = test::upper_contents().functions;
  contents.devices.push_back({"gpu", "opencl", 1});
  contents.images.front().devices = {1};
  contents.kernels = {{"k", 1, 0, 1}};
  contents.shape_functions.clear();
  const Module module = load(std::move(contents));
  const auto kernels = ModuleAccess::loaded(module)->kernels();
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  EXPECT_EQ((*kernels)->kernels, std::vector<KernelFn>{nullptr});
}

}  // namespace
}  // namespace scopevm

// Emulated machines: a call reports exactly the seconds of the cost model, and takes at least that
// long. A deadline or a cancellation ends a wait.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/format/assembly/assembler.h"

namespace scopevm {
namespace {

using std::chrono::steady_clock;

constexpr double kGlobal = 1e9, kWorkspace = 40e9, kConstant = 3e9;  // bytes per second

// sum_contents() with these bandwidths. Its launches compute t = x + y and z = t * factor. Pool 0
// stores x, y and z, pool 1 stores t, and pool 2 stores factor.
format::ModuleContents sum_with_bandwidths(double global, double workspace, double constant) {
  format::ModuleContents contents = test::sum_contents();
  const double bandwidths[] = {global, workspace, constant};
  for (size_t i = 0; i < std::size(bandwidths); ++i)
    contents.pools[i].speed = {bandwidths[i], bandwidths[i], 0, 1};
  return contents;
}

std::vector<Tensor> inputs(int64_t n) {
  const int64_t dims[] = {n, 4};
  std::vector<Tensor> made;
  for (int i = 0; i < 2; ++i) {
    made.push_back(*Tensor::allocate(DType::kF32, dims));
    for (float& element : made.back().elements<float>()) element = 1.0f;
  }
  return made;
}

Call call_of(const Session& session, const std::vector<Tensor>& inputs) {
  Call call = *session.make_call();
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(call.set_input(i, inputs[i]).ok());
  return call;
}

TEST(Emulation, LaunchTimeFollowsThePoolsOfItsBuffers) {
  const Session session = *Session::create(
      test::load(sum_with_bandwidths(kGlobal, kWorkspace, kConstant)), {.emulate = true});
  for (int64_t n : {1, 10, 1000}) {
    Call call = call_of(session, inputs(n));
    ASSERT_TRUE(call.run().ok());
    const double bytes = 16.0 * static_cast<double>(n);
    const double add = bytes / kGlobal + bytes / kGlobal + bytes / kWorkspace;
    const double scale = bytes / kWorkspace + 4 / kConstant + bytes / kGlobal;
    EXPECT_EQ(call.stats().emulated_seconds, add + scale);
    EXPECT_GE(static_cast<double>(call.stats().latency_ns), 1e9 * (add + scale) - 2);
    for (float element : call.outputs()[0].elements<float>()) ASSERT_EQ(element, 4.0f);
    ASSERT_TRUE(call.run().ok());
    EXPECT_EQ(call.stats().emulated_seconds, add + scale) << "of one run only";
  }
}

TEST(Emulation, OperandsAreReadAndResultsAreWritten) {
  format::ModuleContents contents = sum_with_bandwidths(0, 0, 0);
  contents.pools[0].speed = {2e9, 1e9, 0, 1};
  // The workspace moves bursts of 64 bytes.
  contents.pools[1].speed = {4e9, 3e9, 0, 64};
  const Session session = *Session::create(test::load(std::move(contents)), {.emulate = true});
  Call call = call_of(session, inputs(5));
  ASSERT_TRUE(call.run().ok());
  // x and y of 80 bytes are read, t and z are written, and t is read.
  const double add = 80 / 2e9 + 80 / 2e9 + 128 / 3e9, scale = 128 / 4e9 + 80 / 1e9;
  EXPECT_DOUBLE_EQ(call.stats().emulated_seconds, add + scale);
}

// The cost of a caller's tensor is that of the pool in its declaration: y is declared in pool 1.
TEST(Emulation, CallerTensorsCountInTheirDeclaredPool) {
  format::ModuleContents contents = sum_with_bandwidths(kGlobal, kWorkspace, 0);
  contents.functions[0].inputs[1].pool = 1;
  const Session session = *Session::create(test::load(std::move(contents)), {.emulate = true});
  Call call = call_of(session, inputs(100));
  ASSERT_TRUE(call.run().ok());
  const double add = 1600 / kGlobal + 1600 / kWorkspace + 1600 / kWorkspace;
  EXPECT_EQ(call.stats().emulated_seconds, add + (1600 / kWorkspace + 1600 / kGlobal));
}

// The seconds do not depend on the owner of the result buffer, nor on the number of threads. (The
// launches use no scratch memory, whose size would depend on the threads.)
TEST(Emulation, SecondsDependOnlyOnTheModuleAndDims) {
  const Module module = test::load(sum_with_bandwidths(kGlobal, kWorkspace, kConstant));
  const Session one = *Session::create(module, {.emulate = true});
  const Session two = *Session::create(module, {.threads = 2, .emulate = true});
  Call first = call_of(one, inputs(500)), second = call_of(two, inputs(500));
  ASSERT_TRUE(second.set_output(0, inputs(500)[0]).ok());
  ASSERT_TRUE(first.run().ok());
  ASSERT_TRUE(second.run().ok());
  EXPECT_EQ(first.stats().emulated_seconds, second.stats().emulated_seconds);
}

TEST(Emulation, UndescribedPoolsCostNothing) {
  const Session session =
      *Session::create(test::load(sum_with_bandwidths(0, kWorkspace, 0)), {.emulate = true});
  Call call = call_of(session, inputs(100));
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.stats().emulated_seconds, 1600 / kWorkspace + 1600 / kWorkspace);
}

// The launch has two buffers in pool 1 and one in the frame.
TEST(Emulation, BytesOfFramesCostNothing) {
  format::ModuleContents contents = test::empty_contents();
  contents.pools.push_back({"global.stack", format::PoolKind::kStack, 0, 4096});
  for (format::PoolDecl& pool : contents.pools) pool.speed = {kWorkspace, kWorkspace, 0, 1};
  test::CodeWriter code;
  code.alloc_storage(0, 1, 4096).alloc_tensor(1, 0, 0, 4096, DType::kF32, {1024});
  code.alloc_storage(2, 3, 4096).alloc_tensor(3, 2, 0, 4096, DType::kF32, {1024});
  contents.launches = {
      {.kernel = test::kNothing, .grid = {1}, .grain = {1}, .bytes = {{4096}, {4096}, {4096}}}};
  code.launch(0, {1, 3, 1}).ret({});
  format::FunctionDecl main;
  main.name = "main";
  main.register_count = 4;
  main.code = code.take();
  contents.functions.push_back(std::move(main));
  const Session session = *Session::create(test::load(std::move(contents)), {.emulate = true});
  Call call = *session.make_call();
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.stats().emulated_seconds, 4096 / kWorkspace + 4096 / kWorkspace);
}

TEST(Emulation, IsOffByDefault) {
  const Session session = *Session::create(test::load(sum_with_bandwidths(1, 1, 1)));
  Call call = call_of(session, inputs(1000));
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.stats().emulated_seconds, 0);
}

TEST(Emulation, NeedsADescribedPool) {
  const Result<Session> session =
      Session::create(test::load(test::sum_contents()), {.emulate = true});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(session.status().message().find("nothing to emulate"), std::string_view::npos);
}

constexpr char kMachine[] =
    "scopevm_module 0.15 producer \"test\"\n"
    "device \"cpu\" kind \"cpu\"\n"
    "device \"npu\" kind \"cpu\"\n"
    "pool \"global\" heap device 0 limit -1 read_bytes_per_second 2e+09 write_bytes_per_second "
    "2e+09 latency_seconds 1e-06\n"
    "pool \"global\" heap device 1 limit -1 read_bytes_per_second 1.5e+09 write_bytes_per_second "
    "1.5e+09 latency_seconds 2.5e-06\n"
    "pool \"global.fast\" arena device 1 limit -1 read_bytes_per_second 1e+11 "
    "write_bytes_per_second 1e+11\n";

// main(x: f32[64]) -> y: copies x through the pools 0, 1, 2, 1 and 0.
format::ModuleContents copy_chain() {
  std::string code;
  const int pools[] = {0, 1, 2, 1, 0};
  for (int i = 1; i < 5; ++i) {
    const std::string storage = "%r" + std::to_string(2 * i - 1);
    const std::string made = "%r" + std::to_string(2 * i);
    const std::string from = "%r" + std::to_string(i == 1 ? 0 : 2 * i - 2);
    code += storage + " = alloc_storage #" + std::to_string(pools[i]) + " size=256\n" + made +
            " = alloc_tensor " + storage + " offset=0 bytes=256 f32 [64]\n" +
            "device_copy to=" + made + " to_pool=#" + std::to_string(pools[i]) + " from=" + from +
            " from_pool=#" + std::to_string(pools[i - 1]) + "\n";
  }
  return *format::assemble(kMachine + ("function \"main\" registers 9 slots 0 {\n"
                                       "input \"x\" f32 [\"64\"]\noutput \"y\" f32 [\"64\"]\n"
                                       "code {\n" +
                                       code + "ret (%r8)\n}\n}\n"),
                           "test.sva");
}

TEST(Emulation, CopyTakesBothLatenciesAndBytesOverTheLowerBandwidth) {
  const Session session = *Session::create(test::load(copy_chain()), {.emulate = true});
  const int64_t dims[] = {64};
  Call call = call_of(session, {*Tensor::allocate(DType::kF32, dims)});
  ASSERT_TRUE(call.run().ok());
  const double slow = 1e-6 + 2.5e-6 + 256 / 1.5e9, fast = 2.5e-6 + 0.0 + 256 / 1.5e9;
  EXPECT_EQ(call.stats().emulated_seconds, slow + fast + fast + slow);
  EXPECT_GE(static_cast<double>(call.stats().latency_ns), 1e9 * (2 * slow + 2 * fast) - 4);
}

TEST(Emulation, CopyTakesTheWriteLatencyOfTheDestination) {
  format::ModuleContents contents = copy_chain();
  contents.pools[1].speed.write_latency_seconds = 4e-5;
  const Session session = *Session::create(test::load(std::move(contents)), {.emulate = true});
  const int64_t dims[] = {64};
  Call call = call_of(session, {*Tensor::allocate(DType::kF32, dims)});
  ASSERT_TRUE(call.run().ok());
  const double bytes = 256 / 1.5e9;
  // Pools 0, 1, 2, 1 and 0: pool 1 is written in the first and third copy.
  EXPECT_DOUBLE_EQ(call.stats().emulated_seconds, (1e-6 + 4e-5 + bytes) + (2.5e-6 + bytes) +
                                                      (4e-5 + bytes) + (2.5e-6 + 1e-6 + bytes));
}

// copy_chain() with latencies of one hour per pool: a call takes eight hours unless it is ended.
format::ModuleContents slow_chain() {
  format::ModuleContents contents = copy_chain();
  for (format::PoolDecl& pool : contents.pools) pool.speed.latency_seconds = 3600;
  return contents;
}

TEST(Emulation, DeadlineEndsAWait) {
  const Session session = *Session::create(test::load(slow_chain()), {.emulate = true});
  const int64_t dims[] = {64};
  Call call = call_of(session, {*Tensor::allocate(DType::kF32, dims)});
  // Long enough for the call to start its first copy on a busy machine.
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(500);
  EXPECT_EQ(call.run({.deadline = deadline}).code(), StatusCode::kDeadlineExceeded);
  EXPECT_GE(steady_clock::now(), deadline);
  EXPECT_EQ(call.stats().emulated_seconds, 7200 + 256 / 1.5e9) << "of the one copy that began";
  for (const ScopeStats& scope : *session.memory_stats()) EXPECT_EQ(scope.memory.live_bytes, 0);
}

TEST(Emulation, AWaitCanBeCancelled) {
  const Session session = *Session::create(test::load(slow_chain()), {.emulate = true});
  const int64_t dims[] = {64};
  Call call = call_of(session, {*Tensor::allocate(DType::kF32, dims)});
  std::atomic<bool> cancel = false;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    cancel = true;
  });
  EXPECT_EQ(call.run({.cancel = &cancel}).code(), StatusCode::kCancelled);
}

class Durations : public TraceSink {
 public:
  void record(const TraceEvent& event) override {
    if (event.kind != TraceEvent::Kind::kCall) nanoseconds += event.duration_ns;
  }
  int64_t nanoseconds = 0;
};

TEST(Emulation, TracesShowEmulatedTimes) {
  const Session session =
      *Session::create(test::load(sum_with_bandwidths(16e6, 16e6, 16e6)), {.emulate = true});
  Call call = call_of(session, inputs(1000));
  Durations durations;
  ASSERT_TRUE(call.run({.trace = &durations}).ok());
  EXPECT_GE(static_cast<double>(durations.nanoseconds), 1e9 * call.stats().emulated_seconds - 4);
  EXPECT_GT(call.stats().emulated_seconds, 5e-3);
}

}  // namespace
}  // namespace scopevm

// A pool that a CPU and an OpenCL device reach: values in it need no copies, and the host waits for
// the device before it accesses them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

constexpr char kMachine[] = R"({
  "devices": [{"name": "cpu", "kind": "cpu"}, {"name": "gpu", "kind": "opencl"}],
  "pools": [{"device": "cpu", "scope": "global.shared", "reached_by": ["gpu"]}]
})";

constexpr int kRounds = 6;

// y = (... ((x + x) * w + x) * w ...), kRounds times. The sums run on the device and the products
// on the host. The product makes its result in the shared pool, and so does the sum.
std::string graph() {
  const std::string row = "!sv.tensor<f32[n, 64]>", pair = "(" + row + ", " + row + ") -> " + row;
  std::string text = "func.func @main(%x: " + row + " {sv.name = \"x\"}) -> (" + row +
                     " {sv.name = \"y\"}) {\n"
                     "  %w = sv.constant {value = dense<0.5> : tensor<64xf32>} : "
                     "!sv.tensor<f32[64]>\n";
  std::string last = "%x";
  for (int i = 0; i < kRounds; ++i) {
    const std::string id = std::to_string(i);
    text += "  %s" + id + " = sv.add " + last + ", %x : " + pair + " loc(\"sum" + id + "\")\n";
    text += "  %p" + id + " = sv.mul %s" + id + ", %w : (" + row + ", !sv.tensor<f32[64]>) -> " +
            row + " loc(\"product" + id + "\")\n";
    last = "%p" + id;
  }
  return text + "  return " + last + " : " + row + "\n}\n";
}

class SharedPool : public testing::Test {
 protected:
  void SetUp() override {
    options_.model_path = graph_.path();
    options_.machine_json = kMachine;
    options_.places = {"sum*=gpu.global.shared", "product*=cpu.global.shared"};
  }

  void create(std::vector<std::string> more_places = {}) {
    options_.places.insert(options_.places.end(), more_places.begin(), more_places.end());
    const Result<CompileOutput> output = compile(options_);
    ASSERT_TRUE(output.ok()) << output.status().message();
    module_.emplace(*Module::load_bytes(output->module));
    const Result<Session> session = Session::create(*module_);
    if (session.status().code() == StatusCode::kNotFound ||
        session.status().code() == StatusCode::kUnsupported)
      GTEST_SKIP() << session.status().message();
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_.emplace(*session);
  }

  static Tensor rows(int64_t n) {
    Tensor x = *Tensor::allocate(DType::kF32, {n, 64});
    std::iota(x.elements<float>().begin(), x.elements<float>().end(), 1.0F);
    return x;
  }

  static void expect_right(const Tensor& result, int64_t n) {
    for (int64_t i = 0; i < n * 64; ++i) {
      const float x = static_cast<float>(i + 1);
      float expected = x;
      for (int round = 0; round < kRounds; ++round) expected = (expected + x) * 0.5F;
      ASSERT_EQ(result.elements<float>()[static_cast<size_t>(i)], expected);
    }
  }

  void expect_right_call(int64_t n) {
    const Result<std::vector<Tensor>> results = session_->call(std::vector{rows(n)});
    ASSERT_TRUE(results.ok()) << results.status().message();
    expect_right((*results)[0], n);
  }

  TemporaryFile graph_{graph()};
  CompileOptions options_;
  std::optional<Module> module_;
  std::optional<Session> session_;
};

TEST_F(SharedPool, ValuesInItAreNotCopied) {
  ASSERT_NO_FATAL_FAILURE(create());
  if (IsSkipped()) return;
  Call call = *session_->make_call();
  ASSERT_TRUE(call.set_input(0, rows(7)).ok());
  ASSERT_TRUE(call.run().ok());
  expect_right(call.outputs()[0], 7);
  // The input, which the device reads, and the result, which is required in the pool and is
  // returned in another one.
  int64_t copies = 0;
  for (const CopyUse& use : call.stats().copies) copies += use.copies;
  EXPECT_EQ(copies, 2);
  for (const ScopeUse& use : call.stats().memory)
    EXPECT_EQ(use.bound_bytes, use.peak_bytes) << use.device << "." << use.scope;
}

TEST_F(SharedPool, ConcurrentCallsReturnTheirOwnResults) {
  ASSERT_NO_FATAL_FAILURE(create());
  if (IsSkipped()) return;
  std::vector<std::thread> threads;
  for (const int64_t n : {3, 170, 40})
    threads.emplace_back([this, n] {
      for (int i = 0; i < 20; ++i) expect_right_call(n);
    });
  for (std::thread& thread : threads) thread.join();
  for (const ScopeStats& scope : *session_->memory_stats())
    EXPECT_EQ(scope.memory.live_bytes, 0) << scope.device << "." << scope.scope;
}

// The device cannot access the caller's buffer, so the result is copied to it.
TEST_F(SharedPool, ResultIsCopiedToTheCallersBuffer) {
  ASSERT_NO_FATAL_FAILURE(create({"output:y=cpu.global.shared", "sum0=gpu.global.shared"}));
  if (IsSkipped()) return;
  expect_right_call(5);
  Call call = *session_->make_call();
  const Tensor given = *Tensor::allocate(DType::kF32, {9, 64});
  ASSERT_TRUE(call.set_input(0, rows(9)).ok());
  ASSERT_TRUE(call.set_output(0, given).ok());
  ASSERT_TRUE(call.run().ok());
  expect_right(given, 9);
}

// A result that the device makes outlives the session.
TEST_F(SharedPool, ResultOfTheDeviceIsReturnedWithoutACopy) {
  ASSERT_NO_FATAL_FAILURE(create({"product*=gpu.global.shared", "output:y=cpu.global.shared"}));
  if (IsSkipped()) return;
  Call call = *session_->make_call();
  ASSERT_TRUE(call.set_input(0, rows(3)).ok());
  ASSERT_TRUE(call.run().ok());
  const Tensor result = call.outputs()[0];
  call = *session_->make_call();
  session_.reset();
  expect_right(result, 3);
}

TEST_F(SharedPool, TakesNoAllocatorOfTheCaller) {
  ASSERT_NO_FATAL_FAILURE(create());
  if (IsSkipped()) return;
  class Unused final : public Allocator {
    void* allocate(int64_t) override { return nullptr; }
    void deallocate(void*, int64_t) override {}
    AllocatorStats stats() const override { return {}; }
    void trim() override {}
  };
  const Result<Session> session = Session::create(
      *module_, {.allocators = {{"cpu.global.shared", std::make_shared<Unused>()}}});
  EXPECT_EQ(session.status().message(),
            "memory scope \"cpu.global.shared\" takes no allocator of host memory: the "
            "device\'s driver allocates its blocks");
}

}  // namespace
}  // namespace scopevm

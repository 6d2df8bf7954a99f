// Sessions of modules for several devices. A call makes the copies that `explain` lists, limits are
// honoured, and a failing call leaks nothing and leaves the session usable. The second device is a
// CPU with its own memory, or an OpenCL device if the host has one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "scopevm/allocators.h"
#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

using ::testing::HasSubstr;

// y = (x + x) * w. The sum is placed on "dev".
constexpr char kGraph[] = R"mlir(
func.func @main(%x: !sv.tensor<f32[n, 64]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 64]> {sv.name = "y"}) {
  %w = sv.constant {value = dense<3.0> : tensor<64xf32>} : !sv.tensor<f32[64]>
  %0 = sv.add %x, %x : (!sv.tensor<f32[n, 64]>, !sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]> loc("sum")
  %1 = sv.on_device %0 {place = "dev"} : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]>
  %2 = sv.mul %1, %w : (!sv.tensor<f32[n, 64]>, !sv.tensor<f32[64]>) -> !sv.tensor<f32[n, 64]>
  return %2 : !sv.tensor<f32[n, 64]>
}
)mlir";

// The workspace of "dev" is limited to 200 rows of 256 bytes.
std::string machine_of(const std::string& kind) {
  return R"({"devices": [{"name": "cpu", "kind": "cpu"}, {"name": "dev", "kind": ")" + kind +
         R"("}], "pools": [{"device": "dev", "scope": "global.workspace", "limit_bytes": 51200}]})";
}

// The system allocator with a count of its allocations.
class CountingAllocator final : public Allocator {
 public:
  void* allocate(int64_t bytes) override {
    ++count_;
    return std::aligned_alloc(kBlockAlignment, static_cast<size_t>(bytes + 63) / 64 * 64);
  }
  void deallocate(void* block, int64_t) override { std::free(block); }
  AllocatorStats stats() const override { return {}; }
  void trim() override {}
  int count() const { return count_; }

 private:
  std::atomic<int> count_ = 0;
};

class Devices : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    options_.model_path = graph_.path();
    options_.machine_json = machine_of(GetParam());
    Result<CompileOutput> output = compile(options_);
    ASSERT_TRUE(output.ok()) << output.status().message();
    module_.emplace(*Module::load_bytes(output->module));
    Result<Session> session = Session::create(*module_);
    if (!session.ok() && session.status().code() == StatusCode::kNotFound)
      GTEST_SKIP() << session.status().message();
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_.emplace(*session);
  }

  static Tensor rows(int64_t n) {
    Tensor x = *Tensor::allocate(DType::kF32, {n, 64});
    std::iota(x.elements<float>().begin(), x.elements<float>().end(), 1.0f);
    return x;
  }

  void expect_right(int64_t n) { expect_right(*session_, n); }
  static void expect_right(const Session& session, int64_t n) {
    Result<std::vector<Tensor>> results = session.call(std::vector{rows(n)});
    ASSERT_TRUE(results.ok()) << results.status().message();
    for (int64_t i = 0; i < n * 64; ++i)
      ASSERT_EQ((*results)[0].elements<float>()[i], 6.0f * static_cast<float>(i + 1));
  }

  void expect_nothing_held() {
    for (const ScopeStats& scope : *session_->memory_stats())
      EXPECT_EQ(scope.memory.live_bytes, 0) << scope.device << "." << scope.scope;
  }

  TemporaryFile graph_{kGraph};
  CompileOptions options_;
  std::optional<Module> module_;
  std::optional<Session> session_;
};

TEST_P(Devices, CopiesMatchExplain) {
  options_.dims["n"] = {7, 7};
  Result<CopyExplanation> explained = explain<CopyExplanation>(options_);
  ASSERT_TRUE(explained.ok()) << explained.status().message();
  Call call = *session_->make_call();
  ASSERT_TRUE(call.set_input(0, rows(7)).ok());
  ASSERT_TRUE(call.run().ok());
  int64_t explained_bytes = 0, copied_bytes = 0;
  size_t copies = 0;
  for (const CopyExplanation::Copy& copy : explained->copies) explained_bytes += copy.bytes.value();
  for (const CopyUse& use : call.stats().copies) {
    copied_bytes += use.bytes;
    copies += static_cast<size_t>(use.copies);
  }
  EXPECT_EQ(copied_bytes, explained_bytes);
  EXPECT_EQ(copies, explained->copies.size());
  EXPECT_GT(copied_bytes, 0);
}

// Counts the events of a lane and sums the bytes of its copies.
class LaneSink final : public TraceSink {
 public:
  explicit LaneSink(TraceEvent::Lane lane) : lane_(lane) {}
  void record(const TraceEvent& event) override {
    if (event.kind == TraceEvent::Kind::kCall) {
      EXPECT_LE(event.start_ns, first_ns_);
      EXPECT_GE(event.start_ns + event.duration_ns, last_ns_);
    }
    if (event.lane != lane_) return;
    launches += event.kind == TraceEvent::Kind::kLaunch ? 1 : 0;
    if (event.kind == TraceEvent::Kind::kCopy) copied_bytes += event.bytes;
    // The intervals of a device do not overlap.
    if (lane_ == TraceEvent::Lane::kDevice) {
      EXPECT_EQ(event.device, "dev");
      EXPECT_GE(event.start_ns, last_ns_);
    }
    first_ns_ = std::min(first_ns_, event.start_ns);
    last_ns_ = std::max(last_ns_, event.start_ns + event.duration_ns);
  }
  int launches = 0;
  int64_t copied_bytes = 0;

 private:
  const TraceEvent::Lane lane_;
  int64_t first_ns_ = INT64_MAX, last_ns_ = 0;
};

TEST_P(Devices, TracesHaveCopiesAndTheTimesOfDevices) {
  const bool is_cpu = GetParam() == std::string("cpu");
  for (const bool is_timed : {false, true}) {
    const Session session = *Session::create(*module_, {.time_devices = is_timed});
    for (const auto lane : {TraceEvent::Lane::kCaller, TraceEvent::Lane::kDevice}) {
      Call call = *session.make_call();
      ASSERT_TRUE(call.set_input(0, rows(7)).ok());
      LaneSink sink(lane);
      ASSERT_TRUE(call.run({.trace = &sink}).ok());
      int64_t bytes = 0;
      for (const CopyUse& use : call.stats().copies) bytes += use.bytes;
      const bool is_caller = lane == TraceEvent::Lane::kCaller;
      const bool is_recorded = is_caller || (is_timed && !is_cpu);
      EXPECT_EQ(sink.copied_bytes, is_recorded ? bytes : 0);
      EXPECT_EQ(sink.launches, is_caller ? 2 : is_recorded ? 1 : 0);
    }
  }
}

TEST_P(Devices, MemoryLimitFailsTheCallOnly) {
  expect_right(5);
  for (int i = 0; i < 3; ++i) {
    const Status status = session_->call(std::vector{rows(1000)}).status();
    EXPECT_EQ(status.code(), StatusCode::kResourceLimit);
    EXPECT_THAT(std::string(status.message()), HasSubstr("global.workspace"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("limit of 50.0 KiB"));
    expect_nothing_held();
    expect_right(5);
  }
  expect_nothing_held();
}

TEST_P(Devices, LimitOfOneDevice) {
  Call call = *session_->make_call();
  ASSERT_TRUE(call.set_input(0, rows(7)).ok());
  ASSERT_TRUE(call.run().ok());
  int used = 0;
  for (const ScopeUse& use : call.stats().memory) {
    if (use.peak_bytes == 0) continue;
    ++used;
    const std::string scope = std::string(use.device) + "." + std::string(use.scope);
    const Session enough = *Session::create(*module_, {.memory_limits = {{scope, use.peak_bytes}}});
    EXPECT_TRUE(enough.call(std::vector{rows(7)}).ok()) << scope;
    const Session less =
        *Session::create(*module_, {.memory_limits = {{scope, use.peak_bytes - 1}}});
    const Status status = less.call(std::vector{rows(7)}).status();
    EXPECT_EQ(status.code(), StatusCode::kResourceLimit) << scope;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(std::string(use.device) + " " + std::string(use.scope) + ": "));
  }
  EXPECT_EQ(used, 3);
  EXPECT_THAT(
      std::string(Session::create(*module_, {.memory_limits = {{"dev.global.workspac", 1}}})
                      .status()
                      .message()),
      HasSubstr("no memory scope \"dev.global.workspac\"; did you mean \"dev.global.workspace\"?"));
}

// A custom allocator applies to a pool of one CPU device, or to the pools with that memory scope on
// all CPU devices.
TEST_P(Devices, AllocatorOfOneDevice) {
  const bool is_cpu = GetParam() == std::string("cpu");
  auto own = std::make_shared<CountingAllocator>();
  const Result<Session> session =
      Session::create(*module_, {.allocators = {{"dev.global.workspace", own}}});
  if (is_cpu) {
    ASSERT_TRUE(session.ok()) << session.status().message();
    EXPECT_TRUE(session->call(std::vector{rows(7)}).ok());
    EXPECT_EQ(own->count(), 1);
  } else {
    EXPECT_EQ(session.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(session.status().message(),
              "memory scope \"dev.global.workspace\" takes no allocator of host memory: the "
              "device\'s driver allocates its blocks");
  }
  auto all = std::make_shared<CountingAllocator>();
  const Session of_all = *Session::create(*module_, {.allocators = {{"global.workspace", all}}});
  EXPECT_TRUE(of_all.call(std::vector{rows(7)}).ok());
  EXPECT_EQ(all->count(), is_cpu ? 2 : 1);
}

// A session creates an allocator for each pool, whose memory comes from the device's driver.
TEST_P(Devices, NamedAllocators) {
  for (const std::string name : {"pool", "arena", "direct"}) {
    std::vector<std::shared_ptr<Allocator>> made;
    const AllocatorFactory make = [&](std::shared_ptr<BlockSource> source, int64_t alignment) {
      Result<std::shared_ptr<Allocator>> allocator =
          make_allocator(name, {.alignment = alignment, .source = std::move(source)});
      if (allocator.ok()) made.push_back(*allocator);
      return allocator;
    };
    const Session session = *Session::create(
        *module_,
        {.allocators = {{"global.workspace", nullptr, make}, {"dev.global", nullptr, make}}});
    ASSERT_EQ(made.size(), 3u);
    for (const int64_t n : {7, 100, 1, 40, 7}) expect_right(session, n);
    int64_t allocations = 0;
    for (const auto& allocator : made) {
      allocations += allocator->stats().allocations;
      EXPECT_EQ(allocator->stats().live_bytes, 0);
    }
    EXPECT_GE(allocations, 10) << name;
    session.trim();
    for (const auto& allocator : made) EXPECT_EQ(allocator->stats().reserved_bytes, 0) << name;
  }
}

TEST_P(Devices, ConcurrentCallsReturnTheirOwnResults) {
  std::vector<std::thread> threads;
  for (int64_t n : {3, 17, 40})
    threads.emplace_back([this, n] {
      for (int i = 0; i < 20; ++i) expect_right(n);
    });
  for (std::thread& thread : threads) thread.join();
  expect_nothing_held();
}

INSTANTIATE_TEST_SUITE_P(Each, Devices, testing::Values("cpu", "opencl"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace scopevm

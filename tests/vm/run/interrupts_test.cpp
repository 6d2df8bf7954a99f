// Cancellation and deadlines inside a kernel: the launch ends with the check of the kernel that
// follows the interrupt. The kernel itself raises the cancel flag, or waits until the deadline has
// passed, so that the tests do not depend on the speed of the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kGrain = 10;
constexpr int kItems = 1000;
constexpr int64_t kRange = 100;

// Runs loops as ranges of kRange items, one after the other, with alternating workers.
class RangesExecutor final : public Executor {
 public:
  int threads() const override { return 2; }
  void parallel_for(int64_t total, int64_t, Body body, void* context) override {
    for (int64_t begin = 0; begin < total; begin += kRange)
      body(context, begin, std::min(begin + kRange, total), begin / kRange % 2);
  }
};

// Runs a call of wait_contents() whose result is stored in `marks_`: for each item of the kernel, a
// byte that counts how often the item ran. The test parameter selects RangesExecutor, or one
// thread.
class Interrupts : public ::testing::TestWithParam<bool> {
 protected:
  Status run(const CallOptions& options, uint32_t grain = kGrain, int64_t until_ns = 0) {
    SessionOptions session_options;
    if (GetParam()) session_options.executor = std::make_shared<RangesExecutor>();
    const Session session =
        *Session::create(test::load(test::wait_contents(grain)), std::move(session_options));
    Call call = *session.make_call();
    const int64_t one[] = {1};
    const int64_t items[] = {kItems};
    EXPECT_TRUE(call.set_input(0, *Tensor::borrow(&until_ns, DType::kI64, one)).ok());
    EXPECT_TRUE(call.set_output(0, *Tensor::borrow(marks_.data(), DType::kU8, items)).ok());
    const Status status = call.run(options);
    EXPECT_EQ(call.outputs().size(), status.ok() ? 1U : 0U);
    for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
    return status;
  }
  int marked() const { return std::accumulate(marks_.begin(), marks_.end(), 0); }

  alignas(64) std::array<uint8_t, kItems> marks_{};
};

int64_t nanoseconds(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

TEST_P(Interrupts, CancelEndsTheKernel) {
  // The flag is the mark of the first item, which the item sets to 1.
  auto* cancel = new (marks_.data()) std::atomic<bool>(false);
  EXPECT_EQ(run({.cancel = cancel}).code(), StatusCode::kCancelled);
  EXPECT_EQ(marked(), 1);
}

TEST_P(Interrupts, DeadlineEndsTheKernel) {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(50);
  EXPECT_EQ(run({.deadline = deadline}, kGrain, nanoseconds(deadline)).code(),
            StatusCode::kDeadlineExceeded);
  // No item runs if the machine was too slow to launch the kernel before the deadline.
  EXPECT_LE(marked(), 1);
}

TEST_P(Interrupts, DeadlineDuringTheLastInstruction) {
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(50);
  // With this grain, the whole kernel runs on this thread.
  EXPECT_EQ(run({.deadline = deadline}, kItems, nanoseconds(deadline)).code(),
            StatusCode::kDeadlineExceeded);
}

TEST_P(Interrupts, PassedDeadlineRunsNoKernel) {
  EXPECT_EQ(run({.deadline = Clock::now()}).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(marked(), 0);
}

TEST_P(Interrupts, RangesCoverTheGridOnce) {
  const std::atomic<bool> cancel{false};
  for (const uint32_t grain : {0U, 1U, 7U, 999U, 1000U, 5000U}) {
    marks_ = {};
    const Status status =
        run({.deadline = Clock::now() + std::chrono::hours(1), .cancel = &cancel}, grain);
    EXPECT_TRUE(status.ok()) << status.message();
    for (const uint8_t mark : marks_) ASSERT_EQ(mark, 1) << "grain " << grain;
  }
}

INSTANTIATE_TEST_SUITE_P(Executors, Interrupts, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Ranges" : "OneThread"; });

}  // namespace
}  // namespace scopevm

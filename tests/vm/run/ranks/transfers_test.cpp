// Transfers between ranks in threads, without kernels: copies in a loop whose count is an element
// on rank 0, errors of one rank, and interrupts. The module is written in assembly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/ranks/local_ranks.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/format/assembly/assembler.h"

namespace scopevm {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kCount = 3000;  // elements of x

// main(x, times) -> y: copies x to rank 1, from there to rank 2 and back, `times` times. The tensor
// %r4 on rank 1 is both sent and received, so that transfers of the same bytes must wait.
Module ring() {
  const std::string count = std::to_string(kCount), bytes = std::to_string(4 * kCount);
  const std::string text = R"(scopevm_module 0.15 producer "test"
required_feature "ranks"
device "a" kind "cpu"
device "b" kind "cpu" rank 1
device "c" kind "cpu" rank 2
pool "global" heap device 0 limit -1
pool "global.workspace" arena device 1 limit -1
pool "global.workspace" arena device 2 limit -1
function "main" registers 9 slots 2 {
input "x" f32 [")" + count +
                           R"("]
input "times" i64 ["1"]
output "y" f32 [")" + count +
                           R"("]
code {
%r2 = alloc_storage #1 size=)" +
                           bytes + R"(
%r3 = alloc_tensor %r2 offset=0 bytes=)" +
                           bytes + " f32 [" + count + R"(]
%r4 = alloc_storage #2 size=)" +
                           bytes + R"(
%r5 = alloc_tensor %r4 offset=0 bytes=)" +
                           bytes + " f32 [" + count + R"(]
device_copy to=%r3 to_pool=#1 from=%r0 from_pool=#0
load_element dst=s1 %r1 index=0
set_slot dst=s0 value=0
jump test
again:
device_copy to=%r5 to_pool=#2 from=%r3 from_pool=#1
device_copy to=%r3 to_pool=#1 from=%r5 from_pool=#2
add_slot dst=s0 by=1
test:
branch_less a=s0 b=s1 then_to=again else_to=done
done:
%r6 = alloc_storage #0 size=)" +
                           bytes + R"(
%r7 = alloc_tensor %r6 offset=0 bytes=)" +
                           bytes + " f32 [" + count + R"(]
device_copy to=%r7 to_pool=#0 from=%r3 from_pool=#1
ret (%r7)
}
}
)";
  auto contents = format::assemble(text, "ring.sva");
  EXPECT_TRUE(contents.ok()) << contents.status().message();
  return test::load(*std::move(contents));
}

std::vector<Tensor> transfer_inputs(int64_t times) {
  Tensor x = *Tensor::allocate(DType::kF32, std::array{kCount});
  std::iota(x.elements<float>().begin(), x.elements<float>().end(), 1.0f);
  Tensor count = *Tensor::allocate(DType::kI64, std::array<int64_t, 1>{1});
  std::memcpy(count.data(), &times, sizeof times);
  return {x, count};
}

void expect_x(const Result<std::vector<Tensor>>& results) {
  ASSERT_TRUE(results.ok()) << results.status().message();
  const auto y = results->front().elements<float>();
  for (int64_t i = 0; i < kCount; ++i)
    ASSERT_EQ(y[static_cast<size_t>(i)], static_cast<float>(i + 1));
}

TEST(Transfers, FollowAnElementOfRank0) {
  const Module module = ring();
  for (const int64_t eager_bytes : {0, 64, 1 << 20}) {
    LocalRanks ranks(module, 3, eager_bytes);
    ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
    for (const int64_t times : {0, 1, 20}) {
      const int64_t before = ranks.job().sent();
      expect_x(ranks.leader()->call(transfer_inputs(times)));
      // The request and the end of it on 2 ranks, the element, and 2 copies in each iteration.
      EXPECT_EQ(ranks.job().sent() - before, 2 + 2 + 2 + 2 + 2 * times);
    }
    EXPECT_EQ(ranks.job().left(), 0);
    for (const Status& followed : ranks.finish()) EXPECT_TRUE(followed.ok()) << followed.message();
  }
}

TEST(Transfers, GoOnAfterAnErrorOfEachRank) {
  const Module module = ring();
  const char* const kScopes[] = {"a.global", "b.global.workspace", "c.global.workspace"};
  for (int limited = 0; limited < 3; ++limited) {
    LocalRanks ranks(module, 3, 64, [&](int rank) {
      SessionOptions options;
      if (rank == limited) options.memory_limits = {{kScopes[rank], 100}};
      return options;
    });
    ASSERT_TRUE(ranks.leader().ok()) << ranks.leader().status().message();
    for (int i = 0; i < 20; ++i) {
      const auto results = ranks.leader()->call(transfer_inputs(i));
      ASSERT_FALSE(results.ok());
      EXPECT_EQ(results.status().code(), StatusCode::kResourceLimit);
      if (limited > 0)
        EXPECT_THAT(std::string(results.status().message()),
                    HasSubstr("rank " + std::to_string(limited) + ": "));
    }
    EXPECT_EQ(ranks.job().left(), 0);
  }
}

TEST(Transfers, GoOnAfterCancellations) {
  const Module module = ring();
  LocalRanks ranks(module, 3);
  ASSERT_TRUE(ranks.leader().ok());
  std::mt19937 random(3);
  int cancelled = 0;
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> flag = false;
    CallOptions options;
    options.cancel = &flag;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
      flag = true;
    });
    const auto results = ranks.leader()->call(transfer_inputs(100), options);
    other.join();
    if (results.ok()) continue;
    EXPECT_EQ(results.status().code(), StatusCode::kCancelled) << results.status().message();
    ++cancelled;
    expect_x(ranks.leader()->call(transfer_inputs(2)));
  }
  EXPECT_GT(cancelled, 0);
  EXPECT_EQ(ranks.job().left(), 0);
}

}  // namespace
}  // namespace scopevm

// Conformance tests of runtime/device/device.h. They run on the first OpenCL device of this
// machine: as it is, as a device that shares the host's memory, and as one with its own memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <thread>

#include "runtime/opencl/opencl.h"
#include "scopevm/allocator.h"
#include "tests/runtime/device/faulty_api.h"
#include "tests/runtime/device/test_device.h"

namespace scopevm::runtime {
namespace {

using testing::as_image;
using testing::kKernelText;
using testing::TestBlock;
using testing::TestHostBlock;

struct Implementation {
  const char* name;
  Result<std::shared_ptr<Device>> (*open)();
};

// Prints the name of a test parameter. The default printer would print addresses.
void PrintTo(const Implementation& implementation, std::ostream* out) {
  *out << implementation.name;
}

Result<std::shared_ptr<Device>> open_with(bool shares_host_memory) {
  SCOPEVM_RETURN_IF_ERROR(opencl::load_api().status());
  testing::set_fault_plan({.shares_host_memory = shares_host_memory});
  return opencl::open_device(testing::faulty_api(), 0);
}

class AnyDevice : public ::testing::TestWithParam<Implementation> {
 protected:
  void SetUp() override {
    testing::set_fault_plan({});
    auto opened = GetParam().open();
    if (!opened.ok() && opened.status().code() == StatusCode::kNotFound)
      GTEST_SKIP() << opened.status().message();
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device_ = *opened;
    stream_ = device_->make_stream();
  }

  const DeviceKernel* load_kernel() {
    auto image = device_->load(as_image(kKernelText));
    EXPECT_TRUE(image.ok()) << image.status().message();
    if (!image.ok()) return nullptr;
    image_ = *std::move(image);
    return image_->find("add_at", 2, 1);
  }

  Status add(const DeviceKernel* kernel, const TestBlock& in, const TestBlock& out, int64_t amount,
             int64_t grid, int64_t grain = 1, int64_t workers = 1) {
    return add(*stream_, kernel, in, out, amount, grid, grain, workers);
  }
  static Status add(DeviceStream& stream, const DeviceKernel* kernel, const TestBlock& in,
                    const TestBlock& out, int64_t amount, int64_t grid, int64_t grain,
                    int64_t workers) {
    void* const buffers[] = {in.address(), out.address()};
    const int64_t params[] = {amount};
    return stream.launch({kernel, buffers, params, grid, grain, workers});
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<DeviceImage> image_;
};

INSTANTIATE_TEST_SUITE_P(
    Devices, AnyDevice,
    ::testing::Values(Implementation{"opencl", [] { return open_opencl_device(0); }},
                      Implementation{"shared", [] { return open_with(true); }},
                      Implementation{"apart", [] { return open_with(false); }}),
    [](const auto& test) { return test.param.name; });

std::vector<int32_t> counting(int64_t count) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST_P(AnyDevice, ReportsItsKind) {
  EXPECT_TRUE(device_->health().ok());
  EXPECT_EQ(device_->kind(), "opencl");
  EXPECT_FALSE(device_->description().empty());
  EXPECT_GE(device_->block_alignment(), kBlockAlignment);
  EXPECT_TRUE(std::has_single_bit(static_cast<uint64_t>(device_->block_alignment())));
}

TEST_P(AnyDevice, BlocksHaveDistinctAddresses) {
  std::vector<std::pair<uintptr_t, int64_t>> blocks;
  for (const int64_t bytes : {0, 1, 64, 4095, 4096, 4097, 1000000}) {
    const auto address = reinterpret_cast<uintptr_t>(device_->allocate(bytes));
    ASSERT_NE(address, 0U);
    EXPECT_EQ(address % kBlockAlignment, 0U);
    for (const auto& [other, size] : blocks)
      EXPECT_TRUE(address > other + size || address + bytes < other);
    blocks.emplace_back(address, bytes);
  }
  for (const auto& [address, bytes] : blocks)
    device_->deallocate(reinterpret_cast<void*>(address), bytes);
}

class Times final : public CommandObserver {
 public:
  using Time = std::chrono::steady_clock::time_point;
  void executed(uint64_t command, Time start, Time end) override {
    commands.push_back(command);
    EXPECT_LE(last_, start);
    EXPECT_LE(start, end);
    last_ = end;
  }
  std::vector<uint64_t> commands;

 private:
  Time last_ = std::chrono::steady_clock::now();
};

// Large copies are mapped if the device shares the host's memory.
TEST_P(AnyDevice, ReportsTheTimesOfObservedCommands) {
  stream_.reset();
  for (const bool is_timed : {false, true}) {
    if (is_timed) ASSERT_TRUE(device_->enable_timing().ok());
    stream_ = device_->make_stream();
    const DeviceKernel* const kernel = load_kernel();
    for (const int64_t count : {1000, 2 << 20}) {
      const TestHostBlock host(*device_, count);
      std::iota(host.numbers().begin(), host.numbers().end(), 5);
      const TestBlock in(*device_, count), out(*device_, 2 * count);
      Times times;
      stream_->observe_next(times, 7);
      ASSERT_TRUE(stream_->copy_in(in.address(), host.address(), host.bytes()).ok());
      stream_->observe_next(times, 8);
      ASSERT_TRUE(add(kernel, in, out, 1, count).ok());
      // Not observed.
      ASSERT_TRUE(stream_->copy_out(host.address(), out.address(), host.bytes()).ok());
      // No work.
      stream_->observe_next(times, 9);
      ASSERT_TRUE(stream_->copy_out(host.address(), out.address(), 0).ok());
      ASSERT_TRUE(stream_->finish().ok());
      EXPECT_EQ(times.commands, is_timed ? std::vector<uint64_t>({7, 8}) : std::vector<uint64_t>());
      EXPECT_EQ(host.numbers().back(), 5 + count);
    }
    image_.reset();
    stream_.reset();
  }
}

TEST_P(AnyDevice, RejectsMoreThanItsMemory) {
  EXPECT_EQ(device_->allocate(-1), nullptr);
  EXPECT_EQ(device_->allocate(INT64_MAX), nullptr);
  EXPECT_EQ(device_->allocate(int64_t{1} << 50), nullptr);
  TestBlock usable(*device_, 100);
  EXPECT_TRUE(usable.write(counting(100)).ok());
}

// Large copies are mapped if the device shares the host's memory.
TEST_P(AnyDevice, HostBlocksAreSharedWithTheDevice) {
  for (const int64_t count : {1000, 2 << 20}) {
    const TestHostBlock from(*device_, count), to(*device_, count);
    TestBlock block(*device_, count);
    for (const TestHostBlock* host : {&from, &to}) {
      ASSERT_NE(host->address(), nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(host->address()) % kBlockAlignment, 0U);
    }
    std::iota(from.numbers().begin(), from.numbers().end(), 5);
    ASSERT_TRUE(stream_->copy_in(block.address(), from.address(), from.bytes()).ok());
    ASSERT_TRUE(stream_->copy_out(to.address(), block.address(), to.bytes()).ok());
    ASSERT_TRUE(stream_->settle().ok());
    EXPECT_TRUE(std::ranges::equal(from.numbers(), to.numbers()));
  }
}

TEST_P(AnyDevice, RejectsHostBlocksBeyondItsMemory) {
  EXPECT_EQ(device_->allocate_host(-1, 64), nullptr);
  EXPECT_EQ(device_->allocate_host(INT64_MAX, 4096), nullptr);
  EXPECT_EQ(device_->allocate_host(int64_t{1} << 60, 64), nullptr);
  for (const int64_t alignment : {64, 256, 4096, 1 << 16}) {
    void* const empty = device_->allocate_host(0, alignment);
    EXPECT_NE(empty, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(empty) % static_cast<uintptr_t>(alignment), 0U);
    device_->deallocate_host(empty, 0);
  }
}

TEST_P(AnyDevice, LaunchesAccessSharedMemory) {
  if (!device_->shares_memory()) {
    EXPECT_EQ(device_->allocate_shared(64, 64), nullptr);
    return;
  }
  const DeviceKernel* const kernel = load_kernel();
  ASSERT_NE(kernel, nullptr);
  constexpr int64_t kCount = 100, kBytes = kCount * 4;
  void* const block = device_->allocate_shared(3 * kBytes, 256);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 256, 0U);
  const std::span<int32_t> in(static_cast<int32_t*>(block), kCount),
      out = {in.data() + kCount, kCount};
  void* const buffers[] = {in.data(), out.data()};
  // The host and the device access the block in turn, without copies.
  for (int32_t round = 0; round < 20; ++round) {
    std::ranges::fill(in, round);
    const int64_t params[] = {round};
    ASSERT_TRUE(stream_->launch({kernel, buffers, params, kCount, 1, 1}).ok());
    ASSERT_TRUE(stream_->settle().ok());
    EXPECT_THAT(out, ::testing::Each(2 * round));
  }
  // Copies treat the block as host memory.
  TestBlock device_block(*device_, kCount);
  ASSERT_TRUE(stream_->copy_in(device_block.address(), out.data(), kBytes).ok());
  ASSERT_TRUE(stream_->copy_out(in.data(), device_block.address(), kBytes).ok());
  ASSERT_TRUE(stream_->finish().ok());
  EXPECT_THAT(in, ::testing::Each(38));
  device_->deallocate_shared(block, 3 * kBytes);
  EXPECT_EQ(device_->allocate_shared(int64_t{1} << 60, 64), nullptr);
}

TEST_P(AnyDevice, CopiesAnyPartOfABlock) {
  TestBlock block(*device_, 1000);
  std::vector<int32_t> expected = counting(1000);
  ASSERT_TRUE(block.write(expected).ok());
  const std::vector<int32_t> part = {-1, -2, -3};
  auto* bytes = static_cast<char*>(block.address());
  ASSERT_TRUE(stream_->copy_in(bytes + 4 * 997, part.data(), 12).ok());
  std::copy(part.begin(), part.end(), expected.begin() + 997);
  EXPECT_EQ(*block.read(), expected);
  int32_t two[2] = {};
  ASSERT_TRUE(stream_->copy_out(two, bytes + 4 * 10, 8).ok());
  ASSERT_TRUE(stream_->settle().ok());
  EXPECT_EQ(two[0], 11);
  EXPECT_EQ(two[1], 12);
}

TEST_P(AnyDevice, CopiesLargePartsOfABlock) {
  constexpr int64_t kCount = 3000000, kFirst = 12345, kPart = 2000000;
  TestBlock block(*device_, kCount);
  std::vector<int32_t> expected = counting(kCount);
  ASSERT_TRUE(block.write(expected).ok());
  const std::vector<int32_t> part(kPart, -5);
  auto* const at = static_cast<char*>(block.address()) + 4 * kFirst;
  ASSERT_TRUE(stream_->copy_in(at, part.data(), 4 * kPart).ok());
  ASSERT_TRUE(stream_->settle().ok());
  std::copy(part.begin(), part.end(), expected.begin() + kFirst);
  EXPECT_EQ(*block.read(), expected);
  std::vector<int32_t> again(kPart);
  ASSERT_TRUE(stream_->copy_out(again.data(), at, 4 * kPart).ok());
  ASSERT_TRUE(stream_->settle().ok());
  EXPECT_EQ(again, part);
}

// Many copies from and to host memory; only the final settle() waits for them.
TEST_P(AnyDevice, PendingCopiesAreSettledTogether) {
  constexpr int64_t kBlocks = 150;
  constexpr int64_t kCount = 5000;
  std::vector<std::unique_ptr<TestBlock>> blocks;
  std::vector<std::vector<int32_t>> in, out(kBlocks, std::vector<int32_t>(kCount));
  for (int64_t i = 0; i < kBlocks; ++i) {
    blocks.push_back(std::make_unique<TestBlock>(*device_, kCount));
    in.emplace_back(kCount, static_cast<int32_t>(i + 1));
  }
  for (int64_t i = 0; i < kBlocks; ++i) {
    void* const block = blocks[i]->address();
    ASSERT_TRUE(stream_->copy_in(block, in[i].data(), kCount * 4).ok());
    ASSERT_TRUE(stream_->copy_out(out[i].data(), block, kCount * 4).ok());
  }
  ASSERT_TRUE(stream_->settle().ok());
  EXPECT_EQ(out, in);
  EXPECT_TRUE(stream_->finish().ok());
  EXPECT_TRUE(stream_->settle().ok());
}

TEST_P(AnyDevice, CopiesWithinAndBetweenBlocks) {
  TestBlock a(*device_, 100), b(*device_, 50);
  ASSERT_TRUE(a.write(counting(100)).ok());
  auto* first = static_cast<char*>(a.address());
  ASSERT_TRUE(stream_->copy_within(b.address(), first + 200, 200).ok());
  ASSERT_TRUE(stream_->copy_within(first, first + 200, 200).ok());
  std::vector<int32_t> upper(50);
  std::iota(upper.begin(), upper.end(), 51);
  EXPECT_EQ(*b.read(), upper);
  EXPECT_EQ((*a.read())[49], 100);
  EXPECT_EQ((*a.read())[50], 51);
}

TEST_P(AnyDevice, AcceptsCopiesOfZeroBytes) {
  TestBlock block(*device_, 0);
  EXPECT_TRUE(stream_->copy_in(block.address(), nullptr, 0).ok());
  EXPECT_TRUE(stream_->copy_out(nullptr, block.address(), 0).ok());
  EXPECT_TRUE(stream_->copy_within(block.address(), block.address(), 0).ok());
}

TEST_P(AnyDevice, RejectsForeignAddresses) {
  TestBlock block(*device_, 10);
  int32_t host[16] = {};
  auto* bytes = static_cast<char*>(block.address());
  EXPECT_EQ(stream_->copy_in(host, host, 4).code(), StatusCode::kInternal);
  EXPECT_EQ(stream_->copy_out(host, bytes, 44).code(), StatusCode::kInternal);
  EXPECT_EQ(stream_->copy_out(host, bytes + 40, 4).code(), StatusCode::kInternal);
  EXPECT_EQ(stream_->copy_out(host, bytes - 4, 4).code(), StatusCode::kInternal);
  const DeviceKernel* kernel = load_kernel();
  ASSERT_NE(kernel, nullptr);
  void* const buffers[] = {bytes, host};
  const int64_t params[] = {1};
  EXPECT_EQ(stream_->launch({kernel, buffers, params, 1, 1, 1}).code(), StatusCode::kInternal);
}

TEST_P(AnyDevice, ReportsWhyAnImageDoesNotLoad) {
  auto wrong = device_->load(as_image("__kernel void k() { no_such_thing(); return 1 +; }"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), StatusCode::kInvalidModel);
  EXPECT_NE(wrong.status().message().find("error"), std::string::npos) << wrong.status().message();
  EXPECT_EQ(device_->load({}).status().code(), StatusCode::kInvalidModel);
  EXPECT_NE(load_kernel(), nullptr);
}

TEST_P(AnyDevice, FindsOnlyKernelsOfTheImage) {
  const DeviceKernel* kernel = load_kernel();
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(image_->find("add_at", 2, 1), kernel);
  EXPECT_EQ(image_->find("add_at", 2, 2), nullptr);
  EXPECT_EQ(image_->find("add_at", 1, 3), nullptr);  // same number of arguments, different kinds
  EXPECT_EQ(image_->find("add_at", -1, 7), nullptr);
  EXPECT_EQ(image_->find("subtract", 2, 1), nullptr);
  EXPECT_EQ(image_->find("", 2, 1), nullptr);
}

TEST_P(AnyDevice, ProcessesEveryItemOnce) {
  const DeviceKernel* kernel = load_kernel();
  ASSERT_NE(kernel, nullptr);
  for (const int64_t grid : {1, 2, 7, 64, 1000})
    for (const int64_t grain : {1, 3, 100, 5000})
      for (const int64_t workers : {1, 2, 5, 64, 4096}) {
        TestBlock in(*device_, grid), out(*device_, 2 * grid);
        ASSERT_TRUE(in.write(counting(grid)).ok());
        ASSERT_TRUE(add(kernel, in, out, 1, grid, grain, workers).ok());
        const std::vector<int32_t> result = *out.read();
        std::set<int32_t> used;
        for (int64_t i = 0; i < grid; ++i) {
          ASSERT_EQ(result[i], i + 2);
          used.insert(result[grid + i]);
        }
        EXPECT_LE(static_cast<int64_t>(used.size()), (grid - 1) / grain + 1);
        EXPECT_LT(*used.rbegin(), workers);
        EXPECT_GE(*used.begin(), 0);
      }
}

TEST_P(AnyDevice, AcceptsAnEmptyGrid) {
  const DeviceKernel* kernel = load_kernel();
  ASSERT_NE(kernel, nullptr);
  TestBlock in(*device_, 0), out(*device_, 0);
  EXPECT_TRUE(add(kernel, in, out, 1, 0).ok());
  EXPECT_TRUE(stream_->finish().ok());
}

TEST_P(AnyDevice, RejectsWrongBufferAndParamCounts) {
  const DeviceKernel* kernel = load_kernel();
  ASSERT_NE(kernel, nullptr);
  TestBlock in(*device_, 1);
  void* const buffers[] = {in.address()};
  EXPECT_EQ(stream_->launch({kernel, buffers, {}, 1, 1, 1}).code(), StatusCode::kInternal);
  EXPECT_EQ(add(kernel, in, in, 1, 1, 0, 1).code(), StatusCode::kInternal);
  EXPECT_EQ(add(kernel, in, in, 1, 1, 1, 0).code(), StatusCode::kInternal);
}

TEST_P(AnyDevice, LaunchesTakeEffectInOrder) {
  const DeviceKernel* kernel = load_kernel();
  ASSERT_NE(kernel, nullptr);
  constexpr int64_t kCount = 1000;
  auto a = std::make_unique<TestBlock>(*device_, 2 * kCount);
  auto b = std::make_unique<TestBlock>(*device_, 2 * kCount);
  ASSERT_TRUE(a->write(std::vector<int32_t>(2 * kCount)).ok());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(add(kernel, *a, *b, 1, kCount, 1, 7).ok());
    // The launch above still reads the released block.
    if (i % 10 == 0) a = std::make_unique<TestBlock>(*device_, 2 * kCount);
    std::swap(a, b);
  }
  TestBlock copy(*device_, kCount);
  ASSERT_TRUE(stream_->copy_within(copy.address(), a->address(), copy.bytes()).ok());
  EXPECT_EQ(*copy.read(), std::vector<int32_t>(kCount, 200));
}

TEST_P(AnyDevice, ThreadsShareAKernel) {
  const DeviceKernel* kernel = load_kernel();
  ASSERT_NE(kernel, nullptr);
  std::vector<std::string> problems(4);
  auto work = [&](int number) {
    const std::unique_ptr<DeviceStream> stream = device_->make_stream();
    for (int i = 0; i < 50 && problems[number].empty(); ++i) {
      TestBlock in(*device_, 100), out(*device_, 200);
      Status status = in.write(std::vector<int32_t>(100, number * 1000));
      if (status.ok()) status = add(*stream, kernel, in, out, i, 100, 1, 3);
      auto result = out.read();
      if (!status.ok() || !result.ok())
        problems[number] = std::string(status.message()) + std::string(result.status().message());
      else if ((*result)[99] != number * 1000 + i)
        problems[number] = "a result of another thread's launch";
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
}

TEST_P(AnyDevice, ImageOutlivesTheDevice) {
  ASSERT_NE(load_kernel(), nullptr);
  stream_.reset();
  device_.reset();
  EXPECT_NE(image_->find("add_at", 2, 1), nullptr);
}

}  // namespace
}  // namespace scopevm::runtime

// Failing calls, their messages and their effect on the session: invalid inputs, failed checks,
// memory limits, failed allocations, cancellation, deadlines and exceptions of executors. Also
// tests images that cannot be loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/memory/policies/arena_allocator.h"
#include "runtime/memory/pool/pool_allocator.h"
#include "scopevm/allocators.h"
#include "scopevm/kernel_abi.h"
#include "scopevm/session.h"
#include "tests/runtime/memory/failing_allocator.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using ::testing::HasSubstr;

class SumErrors : public ::testing::Test {
 protected:
  Tensor tensor(std::vector<int64_t> dims, DType dtype = DType::kF32) {
    return *Tensor::allocate(dtype, dims);
  }
  void expect(const Status& status, StatusCode code, const std::string& message) {
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  Module module_ = test::load(test::sum_contents());
  Session session_ = *Session::create(module_);
  Call call_ = *session_.make_call();
};

TEST_F(SumErrors, MissingInput) {
  ASSERT_TRUE(call_.set_input("y", tensor({3, 4})).ok());
  expect(call_.run(), StatusCode::kInvalidArgument, "missing input \"x\": expected f32[n, 4]");
  expect(session_.call(std::vector{tensor({3, 4})}).status(), StatusCode::kInvalidArgument,
         "missing input \"y\"");
}

TEST_F(SumErrors, ExtraInput) {
  expect(call_.set_input(2, tensor({3, 4})), StatusCode::kNotFound,
         "no input 2: the module has 2 inputs");
  expect(session_.call(std::vector{tensor({3, 4}), tensor({3, 4}), tensor({1})}).status(),
         StatusCode::kInvalidArgument, "expected at most 2 inputs, given 3");
}

TEST_F(SumErrors, MisspeltInput) {
  expect(call_.set_input("X", tensor({3, 4})), StatusCode::kNotFound,
         "the module has no input \"X\"; did you mean \"x\"?");
  expect(call_.set_input("weights", tensor({3, 4})), StatusCode::kNotFound,
         "no input \"weights\"; there are \"x\", \"y\"");
  expect(call_.output("zz").status(), StatusCode::kNotFound, "no output \"zz\"");
}

TEST_F(SumErrors, WrongType) {
  expect(call_.set_input("x", tensor({3, 4}, DType::kI64)), StatusCode::kInvalidArgument,
         "input \"x\": wrong element type: expected f32[n, 4], given i64[3, 4]");
}

TEST_F(SumErrors, WrongRank) {
  expect(call_.set_input("x", tensor({12})), StatusCode::kInvalidArgument,
         "input \"x\": wrong rank: expected f32[n, 4], given f32[12]");
}

TEST_F(SumErrors, WrongDim) {
  expect(call_.set_input("y", tensor({3, 5})), StatusCode::kInvalidArgument,
         "input \"y\": wrong dim 1: expected f32[n, 4], given f32[3, 5]");
}

TEST_F(SumErrors, InputsThatDisagree) {
  expect(session_.call(std::vector{tensor({3, 4}), tensor({2, 4})}).status(),
         StatusCode::kInvalidArgument,
         "input \"y\": dim 0 is 2, but it must equal dim 0 of input \"x\", which is 3 (dimension "
         "n)");
}

TEST_F(SumErrors, DimensionOutOfBounds) {
  format::ModuleContents contents = test::sum_contents();
  contents.functions[0].dimensions = {{"n", 2, 32, 2}};
  const Module bounded = test::load(std::move(contents));
  const Session session = *Session::create(bounded);
  auto call = [&](int64_t n) {
    return session.call(std::vector{tensor({n, 4}), tensor({n, 4})}).status();
  };
  EXPECT_TRUE(call(32).ok());
  expect(call(0), StatusCode::kInvalidArgument,
         "input \"x\": dim 0 is 0; dimension n must be at least 2");
  expect(call(34), StatusCode::kInvalidArgument, "must be at most 32");
  expect(call(5), StatusCode::kInvalidArgument, "must be a multiple of 2");
  expect(bounded.memory_bound({{"n", 5}}).status(), StatusCode::kInvalidArgument,
         "dimension n is 5; dimension n must be a multiple of 2");
}

TEST_F(SumErrors, FailedCheckReportsTheValues) {
  // The two dims have different names, so only the shape function checks that they are equal.
  format::ModuleContents contents = test::sum_contents();
  contents.functions[0].inputs[1].dims[0] = "m";
  contents.functions[0].dimensions.push_back({"m", 0, 5000, 1});
  const Session session = *Session::create(test::load(std::move(contents)));
  expect(session.call(std::vector{tensor({3, 4}), tensor({2, 4})}).status(),
         StatusCode::kInvalidArgument, "main: Add: input \"y\" dim 0 is 2, \"x\" requires 3");
  expect(session_.call(std::vector{tensor({1001, 4}), tensor({1001, 4})}).status(),
         StatusCode::kInvalidArgument, "main: n is 1001, at most 1000; y has 1001 rows");
}

TEST_F(SumErrors, InputShapeReportsMissingDims) {
  EXPECT_EQ(*module_.input_shape(1, {{"n", 3}}), (std::vector<int64_t>{3, 4}));
  expect(module_.input_shape(1, {}).status(), StatusCode::kInvalidArgument,
         "input \"y\": dim 0 (n) cannot be computed from the given dims");
  expect(module_.input_shape(1, {{"N", 1}}).status(), StatusCode::kInvalidArgument,
         "the module has no dimension \"N\"; did you mean \"n\"?");
  expect(module_.input_shape(2, {{"n", 3}}).status(), StatusCode::kNotFound,
         "no input 2: the module has 2 inputs");
}

TEST_F(SumErrors, BoundReportsMissingDims) {
  expect(module_.memory_bound({}).status(), StatusCode::kInvalidArgument,
         "missing value of dimension \"n\": expected n=NUMBER");
  expect(module_.memory_bound({{"n", 1}, {"N", 1}}).status(), StatusCode::kInvalidArgument,
         "the module has no dimension \"N\"; did you mean \"n\"?");
  expect(module_.memory_bound({{"n", 2000}}).status(), StatusCode::kInvalidArgument,
         "main: n is 2000, at most 1000; y has 2000 rows");
  expect(module_.largest_bound({{"n", {1, 1}}}).status(), StatusCode::kUnsupported,
         "the module has no bound function: compile it with this version");
}

TEST_F(SumErrors, OutputOfAnotherShape) {
  ASSERT_TRUE(call_.set_input("x", tensor({3, 4})).ok());
  ASSERT_TRUE(call_.set_input("y", tensor({3, 4})).ok());
  expect(call_.set_output("z", tensor({4, 3})), StatusCode::kInvalidArgument,
         "output \"z\": wrong dim 1: expected f32[n, 4], given f32[4, 3]");
  ASSERT_TRUE(call_.set_output("z", tensor({4, 4})).ok());
  expect(call_.run(), StatusCode::kInvalidArgument,
         "output \"z\": expected f32[3, 4], given f32[4, 4]");
  ASSERT_TRUE(call_.set_output("z", tensor({3, 4})).ok());
  EXPECT_TRUE(call_.run().ok());
}

TEST_F(SumErrors, OutputThatOverlapsAnInput) {
  const Tensor x = tensor({3, 4});
  ASSERT_TRUE(call_.set_input("x", x).ok());
  ASSERT_TRUE(call_.set_input("y", tensor({3, 4})).ok());
  ASSERT_TRUE(call_.set_output("z", x).ok());
  expect(call_.run(), StatusCode::kInvalidArgument, "output \"z\" overlaps input \"x\"");
}

TEST_F(SumErrors, ReadOnlyOutput) {
  const std::vector<float> bytes(12);
  const int64_t dims[] = {3, 4};
  const Tensor borrowed =
      *Tensor::borrow(static_cast<const void*>(bytes.data()), DType::kF32, dims);
  expect(call_.set_output("z", borrowed), StatusCode::kInvalidArgument, "read-only");
}

TEST_F(SumErrors, MemoryLimit) {
  expect(Session::create(module_, {.memory_limits = {{"global.workspaces", 1}}}).status(),
         StatusCode::kInvalidArgument,
         "no memory scope \"global.workspaces\"; did you mean \"global.workspace\"?");
  expect(Session::create(module_, {.memory_limits = {{"global.workspace", -1}}}).status(),
         StatusCode::kInvalidArgument,
         "the limit of memory scope \"global.workspace\" is -1 bytes, expected at least 0");
  const Session session =
      *Session::create(module_, {.memory_limits = {{"global.workspace", 16 * 10 + 64}}});
  EXPECT_TRUE(session.call(std::vector{tensor({10, 4}), tensor({10, 4})}).ok());
  expect(session.call(std::vector{tensor({11, 4}), tensor({11, 4})}).status(),
         StatusCode::kResourceLimit,
         "main: pc 5: alloc_storage: cpu global.workspace: 240 bytes requested, 224 bytes free of "
         "a limit of 224 bytes");
  EXPECT_TRUE(session.call(std::vector{tensor({10, 4}), tensor({10, 4})}).ok());
}

// Returns blocks whose addresses are odd multiples of 64, which no larger alignment divides.
class OddAllocator final : public Allocator {
 public:
  void* allocate(int64_t bytes) override {
    auto* block = static_cast<char*>(inner_.allocate(bytes + kBlockAlignment));
    return block == nullptr ? nullptr : block + kBlockAlignment;
  }
  void deallocate(void* block, int64_t bytes) override {
    inner_.deallocate(static_cast<char*>(block) - kBlockAlignment, bytes + kBlockAlignment);
  }
  AllocatorStats stats() const override { return inner_.stats(); }
  void trim() override { inner_.trim(); }

 private:
  runtime::ArenaAllocator inner_{4096};
};

TEST(Alignment, BlocksMustHaveThePoolsAlignment) {
  format::ModuleContents contents = test::sum_contents();
  const int64_t dims[] = {50, 4};
  const std::vector<Tensor> inputs{*Tensor::allocate(DType::kF32, dims),
                                   *Tensor::allocate(DType::kF32, dims)};
  for (const uint32_t alignment : {64, 128}) {
    contents.pools[1].alignment = alignment;
    auto odd = std::make_shared<OddAllocator>();
    const Session session =
        *Session::create(test::load(contents), {.allocators = {{"global.workspace", odd}}});
    const Status status = session.call(inputs).status();
    EXPECT_EQ(odd->stats().live_bytes, 0);
    if (alignment == 64) {
      EXPECT_TRUE(status.ok()) << status.message();
    } else {
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("alloc_storage: cpu global.workspace: 864 bytes requested, the "
                            "allocator's block is not aligned to 128 bytes"));
    }
    for (const ScopeStats& scope : *session.memory_stats()) EXPECT_EQ(scope.memory.live_bytes, 0);
    EXPECT_TRUE(Session::create(test::load(contents))->call(inputs).ok());
  }
}

TEST_F(SumErrors, CancelAndDeadline) {
  const std::vector<Tensor> inputs{tensor({3, 4}), tensor({3, 4})};
  std::atomic<bool> cancel{true};
  expect(session_.call(inputs, {.cancel = &cancel}).status(), StatusCode::kCancelled, "cancelled");
  cancel = false;
  EXPECT_TRUE(session_.call(inputs, {.cancel = &cancel}).ok());
  expect(session_.call(inputs, {.deadline = std::chrono::steady_clock::now()}).status(),
         StatusCode::kDeadlineExceeded, "deadline");
  const auto later = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_TRUE(session_.call(inputs, {.deadline = later}).ok());
  for (const ScopeStats& stats : *session_.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
}

// Only the next run is cancelled, also if its inputs are refused.
TEST_F(SumErrors, CancelOfTheNextRun) {
  for (size_t i = 0; i < 2; ++i) ASSERT_TRUE(call_.set_input(i, tensor({3, 4})).ok());
  call_.cancel();
  expect(call_.run(), StatusCode::kCancelled, "cancelled");
  EXPECT_TRUE(call_.run().ok());
  ASSERT_TRUE(call_.set_input(1, tensor({2, 4})).ok());
  call_.cancel();
  expect(call_.run(), StatusCode::kInvalidArgument, "input \"y\"");
  ASSERT_TRUE(call_.set_input(1, tensor({3, 4})).ok());
  EXPECT_TRUE(call_.run().ok());
}

class ThrowingExecutor final : public Executor {
 public:
  int threads() const override { return 2; }
  void parallel_for(int64_t, int64_t, Body, void*) override {
    throw std::runtime_error("no worker is available");
  }
};

TEST_F(SumErrors, ExceptionOfAnExecutor) {
  const Session session =
      *Session::create(module_, {.executor = std::make_shared<ThrowingExecutor>()});
  // Small loops do not use the executor.
  EXPECT_TRUE(session.call(std::vector{tensor({3, 4}), tensor({3, 4})}).ok());
  expect(session.call(std::vector{tensor({100, 4}), tensor({100, 4})}).status(),
         StatusCode::kInternal, "unexpected exception: no worker is available");
  for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
}

TEST(LoopErrors, DeadlineEndsALongLoop) {
  const Session session = *Session::create(test::load(test::loop_contents()));
  const std::vector<float> one(1);
  // A loop of 2^31 iterations runs for minutes. The module does not read the elements of x.
  const int64_t dims[] = {int64_t{1} << 31};
  Call call = *session.make_call();
  Result<Tensor> x = Tensor::borrow(static_cast<const void*>(one.data()), DType::kF32, dims);
  ASSERT_TRUE(x.ok());
  ASSERT_TRUE(call.set_input(0, *x).ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_EQ(call.run({.deadline = deadline}).code(), StatusCode::kDeadlineExceeded);
}

TEST(Allocators, AScopeHasAtMostOne) {
  const Module module = test::load(test::sum_contents());
  const auto error = [&](std::vector<ScopeAllocator> allocators) {
    return std::string(
        Session::create(module, {.allocators = std::move(allocators)}).status().message());
  };
  const auto pool = std::make_shared<runtime::PoolAllocator>();
  const AllocatorFactory none = [](auto, int64_t) { return std::shared_ptr<Allocator>(); };
  const AllocatorFactory fails = [](auto, int64_t) { return make_allocator("pol"); };
  EXPECT_EQ(error({{"global", pool, {}}, {"cpu.global", pool, {}}}),
            "memory scope \"cpu.global\" has two allocators");
  EXPECT_EQ(error({{"global", nullptr, {}}}), "memory scope \"global\": the allocator is null");
  EXPECT_EQ(error({{"global", nullptr, none}}),
            "memory scope \"global\": the factory returned no allocator");
  EXPECT_EQ(error({{"global", nullptr, fails}}),
            "unknown allocator \"pol\"; did you mean \"pool\"?");
}

// The first allocation of each scope fails once. The failed call releases all memory, and the next
// call succeeds.
TEST(OutOfMemory, FailedCallReleasesAllMemory) {
  auto heap =
      std::make_shared<runtime::FailingAllocator>(std::make_shared<runtime::PoolAllocator>());
  auto arena =
      std::make_shared<runtime::FailingAllocator>(std::make_shared<runtime::ArenaAllocator>());
  const Session session =
      *Session::create(test::load(test::sum_contents()),
                       {.allocators = {{"global", heap}, {"global.workspace", arena}}});
  const int64_t dims[] = {50, 4};
  const std::vector<Tensor> inputs{*Tensor::allocate(DType::kF32, dims),
                                   *Tensor::allocate(DType::kF32, dims)};
  for (const auto& failing : {heap, arena}) {
    failing->fail_at(1);
    const Status status = session.call(inputs).status();
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_THAT(std::string(status.message()), HasSubstr("the allocator is out of memory"));
    EXPECT_TRUE(failing->has_failed());
    EXPECT_EQ(heap->stats().live_bytes, 0);
    EXPECT_EQ(arena->stats().live_bytes, 0);
    for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
    EXPECT_TRUE(session.call(inputs).ok());
  }
}

TEST(Bytecode, TensorsAreStoredInsideTheirStorage) {
  format::ModuleContents contents = test::sum_contents();
  contents.functions[0].memory.clear();
  test::CodeWriter code;
  code.add(48, {test::kSumShapes, 2, 0, 1})
      .alloc_storage(2, 1, test::CodeWriter::slot(2))
      .alloc_tensor(3, 2, 0, test::CodeWriter::slot(0), DType::kF32, {4})
      .ret({0});
  contents.functions[0].code = code.take();
  const Session session = *Session::create(test::load(std::move(contents)));
  const int64_t dims[] = {2, 4};
  const Status status = session
                            .call(std::vector{*Tensor::allocate(DType::kF32, dims),
                                              *Tensor::allocate(DType::kF32, dims)})
                            .status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("bytes [0, 0+32) are outside of a storage of 8 bytes"));
}

TEST(Images, MissingKernelIsAnError) {
  format::ModuleContents contents = test::sum_contents();
  contents.kernels[0].symbol = "test_absent";
  const Status status = Session::create(test::load(std::move(contents))).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no kernel \"test_absent\""));
}

TEST(Images, UnsupportedCpuIsReported) {
  format::ModuleContents contents = test::sum_contents();
  contents.images[0].target_cpu = "future";
  contents.images[0].features = {"pni", "quantum"};
  const Status status = Session::create(test::load(std::move(contents))).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the image for future requires quantum"));
}

TEST(Images, OtherKernelAbiIsReported) {
  format::ModuleContents contents = test::sum_contents();
  contents.images[0].target_cpu = "any";
  contents.images[0].kernel_abi = kKernelAbi + 1;
  const Status status = Session::create(test::load(std::move(contents))).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the image for any has kernel ABI " + std::to_string(kKernelAbi + 1) +
                        ", but this release runs kernel ABI " + std::to_string(kKernelAbi) +
                        ": compile the model with this release"));
}

TEST(Images, ImageOfAnotherKernelAbiIsNotSelected) {
  format::ModuleContents contents = test::sum_contents();
  contents.images.push_back(contents.images[0]);
  // It would be preferred, because it requires more features.
  contents.images[1].features = {"pni"};
  contents.images[1].bytes.size = 100;
  contents.images[1].kernel_abi = kKernelAbi + 1;
  const Status status = Session::create(test::load(std::move(contents))).status();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Images, GarbageIsAnError) {
  format::ModuleContents contents = test::sum_contents();
  contents.images[0].bytes.size = 100;
  EXPECT_EQ(Session::create(test::load(std::move(contents))).status().code(),
            StatusCode::kInvalidModel);
}

}  // namespace
}  // namespace scopevm

// Session::reserve(): calls then take no memory from allocators, in exactly the bytes of the bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

using testing::HasSubstr;

// The result has a size that is not a multiple of the alignment.
constexpr char kReserved[] = R"mlir(
func.func @main(%x: !sv.tensor<f32[n, 3]> {sv.name = "x"}) -> (!sv.tensor<f32[3, n]> {sv.name = "y"}) {
  %0 = sv.softmax %x {axis = 0 : i64} : (!sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]>
  %1 = sv.transpose %0 {permutation = array<i64: 1, 0>} : (!sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[3, n]>
  %2 = sv.softmax %1 {axis = 1 : i64} : (!sv.tensor<f32[3, n]>) -> !sv.tensor<f32[3, n]>
  return %2 : !sv.tensor<f32[3, n]>
}
)mlir";

Session session_of(SessionOptions options = {}) {
  const TemporaryFile graph(kReserved);
  CompileOptions compile_options;
  compile_options.model_path = graph.path();
  compile_options.dims["n"] = {1, 200};
  const Result<CompileOutput> output = compile(compile_options);
  EXPECT_TRUE(output.ok()) << output.status().message();
  return *Session::create(*Module::load_bytes(output->module), std::move(options));
}

// Allocations from the allocators of all scopes in one call.
int64_t allocations_of(Call& call, int64_t n) {
  const std::vector<int64_t> dims = {n, 3};
  const Tensor x = *Tensor::allocate(DType::kF32, dims);
  std::ranges::fill(x.elements<float>(), 0.5f);
  EXPECT_TRUE(call.set_input("x", x).ok());
  const Status status = call.run();
  EXPECT_TRUE(status.ok()) << status.message();
  int64_t allocations = 0;
  for (const ScopeUse& use : call.stats().memory) {
    EXPECT_EQ(use.peak_bytes, use.bound_bytes);
    allocations += use.allocations;
  }
  return allocations;
}

int64_t cached_bytes(const Session& session) {
  int64_t bytes = 0;
  for (const ScopeStats& scope : *session.memory_stats()) bytes += scope.memory.cached_bytes;
  return bytes;
}

TEST(Reserve, CallsOfAllSizesAllocateNothing) {
  const Session session = session_of();
  Call call = *session.make_call();
  EXPECT_GT(allocations_of(call, 7), 0);
  call.clear_outputs();
  session.trim();
  ASSERT_TRUE(session.reserve().ok());
  const int64_t reserved = cached_bytes(session);
  EXPECT_GT(reserved, 0);
  for (const int64_t n : {200, 1, 77, 3, 200}) {
    EXPECT_EQ(allocations_of(call, n), 0) << n;
    session.trim();
  }
  call.clear_outputs();
  EXPECT_EQ(cached_bytes(session), reserved);
}

TEST(Reserve, OtherSizesUseTheAllocators) {
  const Session session = session_of();
  ASSERT_TRUE(session.reserve({{"n", {1, 10}}}).ok());
  Call call = *session.make_call();
  EXPECT_EQ(allocations_of(call, 10), 0);
  EXPECT_GT(allocations_of(call, 200), 0);
  EXPECT_EQ(allocations_of(call, 9), 0);
}

// A result that is not released occupies the memory of its call, also after the session's end.
TEST(Reserve, ResultsThatLiveCountAsCalls) {
  Tensor kept;
  {
    const Session session = session_of();
    ASSERT_TRUE(session.reserve({}, 2).ok());
    Call first = *session.make_call(), second = *session.make_call();
    EXPECT_EQ(allocations_of(first, 50), 0);
    EXPECT_EQ(allocations_of(second, 60), 0);
    kept = first.outputs()[0];
    first.clear_outputs();
    EXPECT_GT(allocations_of(first, 5), 0) << "both regions have results";
    kept = Tensor();
    EXPECT_EQ(allocations_of(first, 5), 0);
    kept = first.outputs()[0];
  }
  float sum = 0;
  for (const float value : kept.elements<float>()) sum += value;
  EXPECT_NEAR(sum, 3, 1e-4);
}

TEST(Reserve, FailsCompletelyOrNotAtAll) {
  const auto message = [](const Status& status) { return std::string(status.message()); };
  const Session session = session_of({.memory_limits = {{"global", 4000}}});
  EXPECT_THAT(message(session.reserve({}, 0)), HasSubstr("0 calls, expected at least 1"));
  EXPECT_THAT(message(session.reserve({{"k", {1, 1}}})), HasSubstr("no dimension \"k\""));
  EXPECT_THAT(message(session.reserve({{"n", {9, 3}}})), HasSubstr("the range 9..3 of n is empty"));
  EXPECT_THAT(message(session.reserve({{"n", {1, 201}}})), HasSubstr("201"));
  const Status status = session.reserve({}, 2);
  EXPECT_EQ(status.code(), StatusCode::kResourceLimit);
  EXPECT_THAT(message(status), HasSubstr("2 calls of 2400 bytes exceed the limit of 4000 bytes"));
  EXPECT_EQ(cached_bytes(session), 0);
  EXPECT_TRUE(session.reserve().ok());
}

}  // namespace
}  // namespace scopevm

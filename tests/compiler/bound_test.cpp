// Module::bound() and Module::largest_bound(): equal to the memory bound of each request, over all
// variants, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

using testing::HasSubstr;

// The workspace has a buffer that shrinks with n, and one that grows.
constexpr char kGraph[] = R"mlir(
func.func @main(%x: !sv.tensor<f32[n, m]> {sv.name = "x"}, %w: !sv.tensor<f32[m, 64]> {sv.name = "w"})
    -> (!sv.tensor<f32[n, 64]> {sv.name = "y"}, !sv.tensor<f32["200-n"]> {sv.name = "z"}) {
  %c = sv.constant {value = dense<0.5> : tensor<64x64xf32>} : !sv.tensor<f32[64, 64]>
  %0 = sv.matmul %x, %w : (!sv.tensor<f32[n, m]>, !sv.tensor<f32[m, 64]>) -> !sv.tensor<f32[n, 64]>
  %1 = sv.softmax %0 {axis = 0 : i64} : (!sv.tensor<f32[n, 64]>) -> !sv.tensor<f32[n, 64]>
  %2 = sv.matmul %1, %c : (!sv.tensor<f32[n, 64]>, !sv.tensor<f32[64, 64]>) -> !sv.tensor<f32[n, 64]>
  %3 = sv.iota {size = #sv.dims<["200-n"]>, start = 0.0 : f32, step = 1.0 : f32, dtype = "f32"} : () -> !sv.tensor<f32["200-n"]>
  return %2, %3 : !sv.tensor<f32[n, 64]>, !sv.tensor<f32["200-n"]>
}
)mlir";

Result<Module> module_with(const std::map<std::string, DimBound>& dims,
                           const std::vector<std::map<std::string, DimBound>>& variants = {}) {
  const TemporaryFile graph(kGraph);
  CompileOptions options;
  options.model_path = graph.path();
  options.dims = dims;
  options.variants = variants;
  SCOPEVM_ASSIGN_OR_RETURN(const CompileOutput output, compile(options));
  return Module::load_bytes(output.module);
}

// The largest bytes of each scope over all requests.
std::map<std::string, int64_t> largest_of(const Module& module, int64_t most_n, int64_t most_m) {
  std::map<std::string, int64_t> largest;
  std::vector<int64_t> bytes(module.memory_scopes().size());
  for (int64_t n = 1; n <= most_n; ++n)
    for (int64_t m = 1; m <= most_m; ++m) {
      const Result<MemoryBound> bound = module.memory_bound({{"n", n}, {"m", m}}, 2);
      const Status status = module.bound(std::vector{n, m}, bytes, 2);
      if (!bound.ok() || !status.ok()) {
        ADD_FAILURE() << bound.status().message() << status.message();
        return {};
      }
      for (const ScopeBound& scope : bound->scopes)
        for (size_t i = 0; i < bytes.size(); ++i)
          if (module.memory_scopes()[i].scope == scope.scope) {
            EXPECT_EQ(bytes[i], scope.bytes) << scope.scope << " n=" << n << " m=" << m;
            int64_t& most = largest[scope.scope];
            most = std::max(most, bytes[i]);
          }
    }
  return largest;
}

void expect_largest(const Module& module, int64_t most_n, int64_t most_m) {
  const Result<MemoryBound> bound = module.largest_bound({}, 2);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  const std::map<std::string, int64_t> expected = largest_of(module, most_n, most_m);
  ASSERT_EQ(bound->scopes.size(), expected.size());
  for (const ScopeBound& scope : bound->scopes) {
    EXPECT_EQ(scope.bytes, expected.at(scope.scope)) << scope.scope;
    EXPECT_EQ(scope.lower_bound_bytes, scope.bytes) << scope.scope;
  }
}

TEST(Bound, EqualsTheBoundOfEachRequest) {
  const Result<Module> module = module_with({{"n", {1, 70}}, {"m", {1, 20}}});
  ASSERT_TRUE(module.ok()) << module.status().message();
  expect_largest(*module, 70, 20);
}

TEST(Bound, IncludesVariants) {
  const Result<Module> module =
      module_with({{"n", {1, 40}}, {"m", {1, 10}}}, {{{"n", {1, 1}}}, {{"m", {8, 8}}}});
  ASSERT_TRUE(module.ok()) << module.status().message();
  expect_largest(*module, 40, 10);
}

TEST(Bound, KeepsTheGivenValues) {
  const Result<Module> module = module_with({{"n", {1, 40}}, {"m", {1, 10}}}, {{{"n", {1, 1}}}});
  ASSERT_TRUE(module.ok()) << module.status().message();
  const Result<MemoryBound> bound = module->largest_bound({{"n", {7, 7}}, {"m", {3, 3}}});
  const Result<MemoryBound> expected = module->memory_bound({{"n", 7}, {"m", 3}});
  ASSERT_TRUE(bound.ok() && expected.ok());
  for (size_t i = 0; i < bound->scopes.size(); ++i)
    EXPECT_EQ(bound->scopes[i].bytes, expected->scopes[i].bytes);
}

TEST(Bound, Errors) {
  const Result<Module> module = module_with({{"n", {1, 190}}});
  ASSERT_TRUE(module.ok()) << module.status().message();
  std::vector<int64_t> bytes(module->memory_scopes().size());
  const auto error = [&](std::vector<int64_t> dims, int threads = 1) {
    return std::string(module->bound(dims, bytes, threads).message());
  };
  EXPECT_THAT(error({1}), HasSubstr("given 1 dim and room for"));
  EXPECT_THAT(error({1, 1}, 0), HasSubstr("threads is 0"));
  EXPECT_THAT(error({191, 1}), HasSubstr("dimension n is 191; dimension n must be at most 190"));
  EXPECT_THAT(std::string(module->largest_bound().status().message()),
              HasSubstr("no upper bound of \"m\""));
  EXPECT_THAT(std::string(module->largest_bound({{"k", {1, 1}}}).status().message()),
              HasSubstr("the module has no dimension \"k\""));
}

// The product of two dims can exceed 64 bits.
TEST(Bound, OverflowIsAnError) {
  const TemporaryFile graph(R"mlir(
func.func @main(%x: !sv.tensor<f32[n, m]> {sv.name = "x"}) -> (!sv.tensor<f32[n, m]> {sv.name = "y"}) {
  %0 = sv.exp %x : (!sv.tensor<f32[n, m]>) -> !sv.tensor<f32[n, m]>
  return %0 : !sv.tensor<f32[n, m]>
})mlir");
  CompileOptions options;
  options.model_path = graph.path();
  const Result<CompileOutput> output = compile(options);
  ASSERT_TRUE(output.ok()) << output.status().message();
  const Result<Module> module = Module::load_bytes(output->module);
  ASSERT_TRUE(module.ok()) << module.status().message();
  std::vector<int64_t> bytes(module->memory_scopes().size());
  constexpr int64_t kMost = int64_t{1} << 31;
  const Status status = module->bound(std::vector{kMost, kMost}, bytes);
  EXPECT_EQ(status.code(), StatusCode::kResourceLimit);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("the sizes that this request needs exceed 64-bit arithmetic"));
}

}  // namespace
}  // namespace scopevm

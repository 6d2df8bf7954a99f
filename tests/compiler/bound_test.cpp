// Module::bound() equals the memory bound of each request, and Module::largest_bound() their
// largest, with variants and for ranges; errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
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

using Ranges = std::map<std::string, DimRange>;
using Bounds = std::map<std::string, DimBound>;

bool admits(const DimBound& bound, int64_t value) {
  return bound.least() <= value && value <= bound.max && value % bound.multiple_of == 0;
}

// The largest bytes of each scope over all requests in the ranges that `dims` admits, by the scopes
// of the functions that they run.
std::map<std::string, int64_t> largest_of(const Module& module, const Bounds& dims,
                                          const Ranges& ranges) {
  std::map<std::string, int64_t> largest;
  std::vector<int64_t> bytes(module.memory_scopes().size());
  for (int64_t n = ranges.at("n").least; n <= ranges.at("n").most; ++n)
    for (int64_t m = ranges.at("m").least; m <= ranges.at("m").most; ++m) {
      if (!admits(dims.at("n"), n) || !admits(dims.at("m"), m)) continue;
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

void expect_largest(const Module& module, const Bounds& dims, const Ranges& ranges) {
  const Result<MemoryBound> bound = module.largest_bound(ranges, 2);
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  const std::map<std::string, int64_t> expected = largest_of(module, dims, ranges);
  ASSERT_EQ(bound->scopes.size(), expected.size());
  for (const ScopeBound& scope : bound->scopes) {
    EXPECT_EQ(scope.bytes, expected.at(scope.scope)) << scope.scope;
    EXPECT_EQ(scope.lower_bound_bytes, scope.bytes) << scope.scope;
  }
}

void expect_largest(const Module& module, int64_t most_n, int64_t most_m) {
  expect_largest(module, {{"n", {1, most_n}}, {"m", {1, most_m}}},
                 {{"n", {1, most_n}}, {"m", {1, most_m}}});
}

class RandomBounds {
 public:
  explicit RandomBounds(uint32_t seed) : random_(seed) {}

  int64_t from_to(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  // Bounds of a dimension that `general` admits: one value, a range, multiples or both.
  DimBound within(const DimBound& general) {
    const int64_t kind = from_to(0, 3);
    const int64_t step = general.multiple_of * (kind >= 2 ? from_to(2, 4) : 1);
    DimBound bound{(general.least() + step - 1) / step * step, general.max / step * step, step};
    if (kind == 2) return bound;
    const int64_t least = from_to(bound.least() / step, bound.max / step);
    bound = {least * step, from_to(least, bound.max / step) * step, step};
    if (kind == 0) bound.max = bound.least();
    return bound;
  }
  // A range with a value that `bound` admits. Its ends can be other numbers.
  DimRange range_in(const DimBound& bound) {
    const int64_t step = bound.multiple_of;
    const int64_t least = from_to(bound.least() / step, bound.max / step);
    const int64_t most = from_to(least, bound.max / step);
    return {least * step - from_to(0, step - 1), most * step + from_to(0, step - 1)};
  }

 private:
  std::mt19937 random_;
};

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

// With random bounds, variants and ranges: no request needs more, and one needs this number.
TEST(Bound, IsThatOfARequestInTheRange) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomBounds random(seed);
    const int64_t step = random.from_to(1, 3);
    const Bounds dims = {{"n", {step, 36 / step * step, step}}, {"m", {1, 9}}};
    std::vector<Bounds> variants;
    for (int64_t count = random.from_to(1, 3); count > 0; --count) {
      Bounds variant;
      while (variant.empty())
        for (const auto& [name, bound] : dims)
          if (random.from_to(0, 1) == 1) variant[name] = random.within(bound);
      variants.push_back(std::move(variant));
    }
    const Result<Module> module = module_with(dims, variants);
    if (!module.ok()) {  // equal variants, or one that is not narrower than main
      EXPECT_THAT(std::string(module.status().message()), HasSubstr("variant "));
      continue;
    }
    for (int i = 0; i < 20; ++i) {
      Ranges ranges;
      for (const auto& [name, bound] : dims) ranges[name] = random.range_in(bound);
      expect_largest(*module, dims, ranges);
    }
  }
}

// All requests in the range run a variant, which needs no workspace.
TEST(Bound, HasTheScopesOfTheFunctionsThatRun) {
  const Result<Module> module =
      module_with({{"n", {8, 128, 8}}, {"m", {1, 10}}}, {{{"n", {8, 8}}}});
  ASSERT_TRUE(module.ok()) << module.status().message();
  const Result<MemoryBound> bound = module->largest_bound({{"n", {1, 15}}, {"m", {2, 3}}});
  ASSERT_TRUE(bound.ok()) << bound.status().message();
  EXPECT_EQ(bound->function, "main[n=8]");
  const Result<MemoryBound> both = module->largest_bound({{"n", {1, 16}}, {"m", {2, 3}}});
  ASSERT_TRUE(both.ok()) << both.status().message();
  EXPECT_EQ(both->function, "main");
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

// The ends of a range can be between two values of the dimension.
TEST(Bound, ErrorsOfRanges) {
  const Result<Module> module = module_with({{"n", {8, 64, 8}}, {"m", {1, 10}}});
  ASSERT_TRUE(module.ok()) << module.status().message();
  const auto error = [&](int64_t least, int64_t most) {
    return std::string(module->largest_bound({{"n", {least, most}}}).status().message());
  };
  EXPECT_EQ(error(1, 71), "");
  EXPECT_THAT(error(9, 15), HasSubstr("the range 9..15 of n contains no multiple of 8"));
  EXPECT_THAT(error(9, 9), HasSubstr("dimension n is 9; dimension n must be a multiple of 8"));
  EXPECT_THAT(error(9, 8), HasSubstr("the range 9..8 of n is empty"));
  EXPECT_THAT(error(0, 8), HasSubstr("dimension n is 0; dimension n must be at least 8"));
  EXPECT_THAT(error(-9, -1), HasSubstr("dimension n is -9; dimension n must be at least 8"));
  EXPECT_THAT(error(9, 73), HasSubstr("dimension n is 73; dimension n must be at most 64"));
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

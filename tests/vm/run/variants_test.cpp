// Selection of variants: a call executes the first variant that admits the request's dims, or main
// if there is none. The signature and the errors of invalid requests are those of main.
#include <gtest/gtest.h>

#include <vector>

#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm {
namespace {

using test::load;
using test::variant_contents;

Tensor ones(int64_t n) {
  const std::vector<int64_t> dims{n, 4};
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  for (float& element : tensor.elements<float>()) element = 1;
  return tensor;
}

struct Choice {
  int64_t n;
  float factor;
  const char* function;
};

constexpr Choice kChoices[] = {
    {1, 2, "main"},           {7, 4, "main[n=7]"},
    {8, 8, "main[even]"},     {100, 8, "main[even]"},
    {0, 8, "main[even]"},     {102, 2, "main"},
    {9, 2, "main"},           {499, 2, "main"},
    {500, 16, "main[large]"}, {1000, 16, "main[large]"},
    {7, 4, "main[n=7]"},
};

TEST(Variants, FirstMatchingVariantRuns) {
  Call call = *Session::create(load(variant_contents()))->make_call();
  for (const Choice& choice : kChoices) {
    ASSERT_TRUE(call.set_input(0, ones(choice.n)).ok());
    ASSERT_TRUE(call.set_input(1, ones(choice.n)).ok());
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(call.stats().function, choice.function) << choice.n;
    for (const float element : call.outputs().front().elements<float>())
      ASSERT_EQ(element, 2 * choice.factor) << choice.n;
  }
}

TEST(Variants, FirstOfTwoMatchingVariantsRuns) {
  format::ModuleContents contents = variant_contents();
  contents.variants[0].dimensions[0] = {"n", 0, 1000, 1};
  Call call = *Session::create(load(std::move(contents)))->make_call();
  ASSERT_TRUE(call.set_input(0, ones(8)).ok());
  ASSERT_TRUE(call.set_input(1, ones(8)).ok());
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(call.stats().function, "main[n=7]");
}

TEST(Variants, WriteIntoTheCallersBuffer) {
  Call call = *Session::create(load(variant_contents()))->make_call();
  for (const Choice& choice : kChoices) {
    if (choice.n == 0) continue;
    const Tensor z = ones(choice.n);
    ASSERT_TRUE(call.set_input(0, ones(choice.n)).ok());
    ASSERT_TRUE(call.set_input(1, ones(choice.n)).ok());
    ASSERT_TRUE(call.set_output("z", z).ok());
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(z.elements<float>()[0], 2 * choice.factor);
    for (const ScopeUse& use : call.stats().memory)
      if (use.scope == "global") EXPECT_EQ(use.allocations, 0) << choice.function;
  }
}

TEST(Variants, MainReportsErrors) {
  const Module module = load(variant_contents());
  const Session session = *Session::create(module);
  const std::string expected = "main: n is 2000, at most 1000; y has 2000 rows";
  Result<std::vector<Tensor>> results = session.call(std::vector{ones(2000), ones(2000)});
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.status().message(), expected);
  EXPECT_EQ(module.memory_bound({{"n", 2000}}).status().message(), expected);
  for (const ScopeStats& stats : *session.memory_stats()) EXPECT_EQ(stats.memory.live_bytes, 0);
  EXPECT_TRUE(session.call(std::vector{ones(600), ones(600)}).ok());
}

TEST(Variants, BoundMatchesTheRunVariant) {
  const Module module = load(variant_contents());
  for (const Choice& choice : kChoices) {
    const Result<MemoryBound> bound = module.memory_bound({{"n", choice.n}});
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    EXPECT_EQ(bound->function, choice.function);
    EXPECT_EQ(bound->scopes.front().bytes, 16 * choice.n + 64);
  }
}

TEST(Variants, KeepTheSignatureOfMain) {
  const Module module = load(variant_contents());
  ASSERT_EQ(module.signature().dimensions.size(), 1U);
  EXPECT_EQ(module.signature().dimensions[0].max, int64_t{1} << 31);
}

}  // namespace
}  // namespace scopevm

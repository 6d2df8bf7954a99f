// A repeated call with the same shapes allocates only the storages of the memory bound. Shape
// functions, dispatch and data-dependent sizes allocate no heap memory.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "scopevm/state.h"
#include "tests/vm/steady_state/counted_heap.h"

namespace scopevm {
namespace {

const std::string kSource = SCOPEVM_SOURCE_DIR;

struct Model {
  const char* path;
  std::vector<std::map<std::string, DimBound>> variants;
  std::vector<int64_t> dims;  // dims of the only input
  const char* function;
  std::map<std::string, int64_t> storages;  // allocations of a call, by scope
};

Call call_of(const Model& model) {
  CompileOptions options;
  options.model_path = kSource + model.path;
  options.variants = model.variants;
  const int64_t before = test::heap_calls();
  Result<CompileOutput> output = compile(options);
  EXPECT_TRUE(output.ok()) << output.status().message();
  const int64_t compiled = test::heap_calls();
  EXPECT_GT(compiled, before) << "the compiler's allocations are not counted";
  Call call = *Session::create(*Module::load_bytes(output->module))->make_call();
  EXPECT_GT(test::heap_calls(), compiled) << "the virtual machine's allocations are not counted";
  return call;
}

void expect_storages_only(const Model& model) {
  Call call = call_of(model);
  Tensor input = *Tensor::allocate(DType::kF32, model.dims);
  for (float& element : input.elements<float>()) element = 1;
  ASSERT_TRUE(call.set_input(0, input).ok());
  for (int i = 0; i < 3; ++i) {
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(call.stats().function, model.function);
  const int64_t before = test::heap_calls();
  for (int i = 0; i < 20; ++i)
    if (!call.run().ok()) FAIL();
  EXPECT_EQ(test::heap_calls() - before, 0);
  for (const ScopeUse& use : call.stats().memory) {
    const auto expected = model.storages.find(std::string(use.scope));
    EXPECT_EQ(use.allocations, expected == model.storages.end() ? 0 : expected->second)
        << use.scope;
  }
}

TEST(SteadyCall, ModelWithDynamicDims) {
  expect_storages_only({"/examples/digits/digits.onnx",
                        {},
                        {3, 1, 8, 8},
                        "main",
                        {{"global", 1}, {"global.workspace", 1}}});
}

// The workspace of three images is part of the frame.
TEST(SteadyCall, VariantOfAModel) {
  expect_storages_only({"/examples/digits/digits.onnx",
                        {{{"n", {3, 3, 1}}}, {{"n", {1, 8, 1}}}},
                        {3, 1, 8, 8},
                        "main[n=3]",
                        {{"global", 1}}});
}

TEST(SteadyCall, ModelWithIntermediatesInFrames) {
  // Only the result of main is allocated: the inlined calls store their results in the frame.
  expect_storages_only({"/tests/memory/stack/nested.mlir", {}, {4, 4}, "main", {{"global", 1}}});
}

TEST(SteadyCall, ModelWithDataDependentSizes) {
  // One workspace with sizes from dims, and a result with a data-dependent size.
  expect_storages_only({"/tests/data_dependent/models/nonzero.onnx",
                        {},
                        {5, 7},
                        "main",
                        {{"global", 1}, {"global.workspace", 1}}});
}

// A step that appends a row to a buffer of 4,096 rows.
TEST(SteadyCall, StateInOneBuffer) {
  CompileOptions options;
  options.model_path = kSource + "/tests/tools/data/cache.mlir";
  options.dims = {{"past", {.min = 0}}};
  options.states = {"past=present"};
  const Result<CompileOutput> output = compile(options);
  ASSERT_TRUE(output.ok()) << output.status().message();
  const Session session = *Session::create(*Module::load_bytes(output->module));
  State state = *State::create(session, {.pairs = {}, .dims = {{"b", 1}, {"past_capacity", 4096}}});
  ASSERT_TRUE(state.set_value("past_rows", *Tensor::allocate(DType::kU8, {4000, 0})).ok());
  Call call = *session.make_call();
  ASSERT_TRUE(call.set_state(state).ok());
  Tensor x = *Tensor::allocate(DType::kF32, {1, 1, 2});
  for (float& element : x.elements<float>()) element = 1;
  ASSERT_TRUE(call.set_input("x", x).ok());
  for (int i = 0; i < 3; ++i) {
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  const int64_t before = test::heap_calls();
  for (int i = 0; i < 20; ++i)
    if (!call.run().ok()) FAIL();
  EXPECT_EQ(test::heap_calls() - before, 0);
  EXPECT_TRUE(call.stats().copies.empty());
  EXPECT_EQ(call.output("sum")->elements<float>()[0], 23);
}

}  // namespace
}  // namespace scopevm

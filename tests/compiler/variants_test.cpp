// Modules with variants: order and names of the variants, results equal to the generic function's,
// constants and kernels stored once, and rejected bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"
#include "vm/format/binary/reader.h"

namespace scopevm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Bounds = std::map<std::string, DimBound>;
const DimBound kOne = {1, 1, 1};
const std::vector<Bounds> kFour = {
    {{"t", {1, 32, 1}}}, {{"n", kOne}}, {{"n", kOne}, {"t", {128, 128, 1}}}, {{"t", {8, 64, 8}}}};

// A product with packed weights, a softmax along a named dim, and the positions of the nonzero
// elements of x, whose number is data-dependent.
constexpr char kVariants[] = R"mlir(
func.func @main(%x: !sv.tensor<f32[n, t, 4]> {sv.name = "x"}, %p: !sv.tensor<f32[t, 4]> {sv.name = "p"})
    -> (!sv.tensor<f32[n, t, 4]> {sv.name = "y"}, !sv.tensor<i64[1, "$k"]> {sv.name = "where"}) {
  %w = sv.constant {value = dense<[[1.0, 0.5, 0.0, 2.0], [0.0, 1.0, 0.25, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.5, 0.5]]> : tensor<4x4xf32>} : !sv.tensor<f32[4, 4]>
  %0 = sv.matmul %x, %w : (!sv.tensor<f32[n, t, 4]>, !sv.tensor<f32[4, 4]>) -> !sv.tensor<f32[n, t, 4]>
  %1 = sv.add %0, %p : (!sv.tensor<f32[n, t, 4]>, !sv.tensor<f32[t, 4]>) -> !sv.tensor<f32[n, t, 4]>
  %2 = sv.softmax %1 {axis = 1 : i64} : (!sv.tensor<f32[n, t, 4]>) -> !sv.tensor<f32[n, t, 4]>
  %3 = sv.reshape %x {dims = #sv.dims<["4*n*t"]>} : (!sv.tensor<f32[n, t, 4]>) -> !sv.tensor<f32["4*n*t"]>
  %starts, %count = sv.count_nonzero %3 : (!sv.tensor<f32["4*n*t"]>) -> (!sv.tensor<i64["floordiv(n*t+1023, 1024)"]>, !sv.tensor<i64[1]>)
  sv.read_dims %count {symbols = ["$k"]} : !sv.tensor<i64[1]>
  %4 = sv.nonzero %3, %starts {count = #sv.dims<["$k"]>} : (!sv.tensor<f32["4*n*t"]>, !sv.tensor<i64["floordiv(n*t+1023, 1024)"]>) -> !sv.tensor<i64[1, "$k"]>
  return %2, %4 : !sv.tensor<f32[n, t, 4]>, !sv.tensor<i64[1, "$k"]>
}
)mlir";

class Variant : public testing::Test {
 protected:
  Result<CompileOutput> try_compile(const std::vector<Bounds>& variants,
                                    const Bounds& general = {}) const {
    CompileOptions options;
    options.model_path = graph_.path();
    options.dims = general;
    options.variants = variants;
    return compile(options);
  }
  std::vector<uint8_t> compile_graph(const std::vector<Bounds>& variants) const {
    Result<CompileOutput> output = try_compile(variants);
    if (output.ok()) return std::move(output->module);
    ADD_FAILURE() << output.status().message();
    return {};
  }
  std::string error_of(const std::vector<Bounds>& variants, const Bounds& general = {}) const {
    return std::string(try_compile(variants, general).status().message());
  }

  // Compiled once for all tests: without variants, and with kFour.
  const std::vector<uint8_t>& general() const {
    static const std::vector<uint8_t> file = compile_graph({});
    return file;
  }
  const std::vector<uint8_t>& four() const {
    static const std::vector<uint8_t> file = compile_graph(kFour);
    return file;
  }

  TemporaryFile graph_{kVariants};
};

format::ModuleContents contents_of(const std::vector<uint8_t>& file) {
  return *format::read_module(format::aligned_copy(file.data(), file.size()));
}

uint64_t constant_bytes(const format::ModuleContents& module) {
  uint64_t bytes = 0;
  for (const format::ConstantDecl& constant : module.constants) bytes += constant.bytes.size;
  return bytes;
}

std::vector<std::string> variants_of(const format::ModuleContents& module) {
  std::vector<std::string> names;
  for (const format::VariantDecl& variant : module.variants)
    names.push_back(module.functions[variant.function].name);
  return names;
}

Tensor ramp(const std::vector<int64_t>& dims) {
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  int64_t i = 0;
  for (float& element : tensor.elements<float>())
    element = static_cast<float>(i++ % 7 - 3) / 2;  // every seventh element is 0
  return tensor;
}

Call call_of(const std::vector<uint8_t>& file) {
  return *Session::create(*Module::load_bytes(file))->make_call();
}

void set_inputs(Call& call, int64_t n, int64_t t) {
  ASSERT_TRUE(call.set_input("x", ramp({n, t, 4})).ok());
  ASSERT_TRUE(call.set_input("p", ramp({t, 4})).ok());
}

struct Request {
  int64_t n, t;
  const char* function;
};

constexpr Request kRequests[] = {{1, 128, "main[n=1,t=128]"},
                                 {1, 5, "main[n=1]"},
                                 {1, 129, "main[n=1]"},
                                 {3, 64, "main[t<=64,t%8==0]"},
                                 {3, 16, "main[t<=64,t%8==0]"},
                                 {3, 15, "main[t<=32]"},
                                 {2, 128, "main"},
                                 {9, 33, "main"}};

TEST_F(Variant, OrdersVariantsFromTheMostConstrained) {
  EXPECT_THAT(variants_of(contents_of(four())),
              ElementsAre("main[n=1,t=128]", "main[n=1]", "main[t<=64,t%8==0]", "main[t<=32]"));
}

TEST_F(Variant, KeepsTheOrderOfEquallyConstrainedVariants) {
  EXPECT_THAT(variants_of(contents_of(compile_graph({{{"t", {4, 4, 1}}}, {{"n", {9, 9, 1}}}}))),
              ElementsAre("main[t=4]", "main[n=9]"));
}

TEST_F(Variant, ReturnsTheResultsOfTheGenericFunction) {
  Call general = call_of(this->general()), specialised = call_of(four());
  for (const Request& request : kRequests) {
    set_inputs(general, request.n, request.t);
    set_inputs(specialised, request.n, request.t);
    ASSERT_TRUE(general.run().ok());
    const Status status = specialised.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(specialised.stats().function, request.function);
    EXPECT_EQ(general.stats().function, "main");
    const Tensor &y = specialised.outputs()[0], &expected = general.outputs()[0];
    ASSERT_TRUE(std::ranges::equal(y.dims(), expected.dims()));
    for (int64_t i = 0; i < y.element_count(); ++i)
      ASSERT_NEAR(y.elements<float>()[i], expected.elements<float>()[i], 1e-6) << i;
    EXPECT_TRUE(std::ranges::equal(specialised.outputs()[1].elements<int64_t>(),
                                   general.outputs()[1].elements<int64_t>()));
  }
}

TEST_F(Variant, WritesIntoTheCallersBuffers) {
  Call call = call_of(four());
  for (const Request& request : kRequests) {
    const Tensor y = ramp({request.n, request.t, 4});
    set_inputs(call, request.n, request.t);
    ASSERT_TRUE(call.set_output("y", Tensor()).ok());
    ASSERT_TRUE(call.run().ok());
    const Tensor expected = call.outputs()[0];
    ASSERT_TRUE(call.set_output("y", y).ok());
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(call.stats().function, request.function);
    EXPECT_TRUE(std::ranges::equal(y.elements<float>(), expected.elements<float>()));
    for (const ScopeUse& use : call.stats().memory)
      if (use.scope == "global")
        EXPECT_EQ(use.allocations, 1) << "only the data-dependent result is allocated";
  }
}

TEST_F(Variant, AllocatesItsBound) {
  const Module module = *Module::load_bytes(four());
  Call call = *Session::create(module)->make_call();
  for (const Request& request : kRequests) {
    set_inputs(call, request.n, request.t);
    ASSERT_TRUE(call.run().ok());
    const Result<MemoryBound> bound = module.memory_bound({{"n", request.n}, {"t", request.t}});
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    EXPECT_EQ(bound->function, request.function);
    for (const ScopeUse& use : call.stats().memory)
      if (use.scope == "global.workspace")
        EXPECT_EQ(use.bound_bytes, use.peak_bytes) << request.function;
  }
}

TEST_F(Variant, StoresWeightsAndKernelsOnce) {
  const format::ModuleContents general = contents_of(this->general());
  const format::ModuleContents specialised = contents_of(four());
  EXPECT_EQ(constant_bytes(specialised), constant_bytes(general));
  EXPECT_EQ(specialised.constants.size(), general.constants.size());
  // Bounds alone do not create additional kernels.
  EXPECT_EQ(contents_of(compile_graph({{{"n", {1, 8, 1}}}})).kernels.size(),
            general.kernels.size());
  EXPECT_EQ(general.functions.size(), 1U);
  EXPECT_EQ(specialised.functions.size(), 5U);
}

TEST_F(Variant, KeepsTheGeneralSignature) {
  const Module module = *Module::load_bytes(four());
  EXPECT_THAT(module.signature().inputs[0].dims, ElementsAre("n", "t", "4"));
  EXPECT_EQ(module.signature().dimensions[0].max, int64_t{1} << 31);
}

TEST_F(Variant, ReportsTheErrorsOfTheGenericFunction) {
  Call general = call_of(this->general()), specialised = call_of(four());
  for (Call* call : {&general, &specialised}) {
    ASSERT_TRUE(call->set_input("x", ramp({1, 128, 4})).ok());
    ASSERT_TRUE(call->set_input("p", ramp({127, 4})).ok());
  }
  const Status expected = general.run(), actual = specialised.run();
  ASSERT_FALSE(expected.ok());
  EXPECT_EQ(actual.message(), expected.message());
  set_inputs(specialised, 1, 128);
  EXPECT_TRUE(specialised.run().ok());
}

TEST_F(Variant, CompilesToTheSameBytesTwice) { EXPECT_EQ(four(), compile_graph(kFour)); }

TEST_F(Variant, BoundsOutsideTheGenericOnesAreRejected) {
  EXPECT_EQ(error_of({{{"n", {16, 16, 1}}}}, {{"n", {1, 8, 1}}}),
            "variant 1: dimension n: range 16 is not within the general range 1..8");
  EXPECT_EQ(
      error_of({{{"n", kOne}}, {{"t", {2, 9, 1}}}}, {{"t", {2, 8, 2}}}),
      "variant 2: dimension t: range 2..9 is not within the general range 2..8, a multiple of 2");
  EXPECT_EQ(error_of({{{"n", {0, 4, 1}}}}),
            "variant 1: dimension n: range 0..4 is not within the general range 1..2147483648");
  EXPECT_EQ(error_of({{{"n", {4, 2, 1}}}}),
            "variant 1: dimension n: range 4..2 is not within the general range 1..2147483648");
  for (const DimBound& bound : {DimBound{1, 8, 0}, DimBound{std::nullopt, 8, 0}})
    EXPECT_EQ(error_of({{{"n", bound}}}),
              "variant 1: dimension n: range 1..8 is not within the general range 1..2147483648");
}

TEST_F(Variant, InvalidVariantIsRejected) {
  EXPECT_EQ(error_of({{}}), "variant 1: no dimension has a narrower range than in main");
  EXPECT_EQ(error_of({{{"n", kOne}}, {{"t", kOne}}, {{"n", kOne}}}),
            "variant 3 duplicates variant n=1");
  EXPECT_THAT(error_of({{{"k", kOne}}}), HasSubstr("unknown dimension \"k\"; known: n, t"));
}

TEST_F(Variant, GeneralBoundsAreChecked) {
  for (const DimBound& bound : {DimBound{-1, 4, 1}, DimBound{5, 4, 1}, DimBound{1, 4, 0}})
    EXPECT_EQ(try_compile({{{"n", {2, 2}}}}, {{"n", bound}}).status().code(),
              StatusCode::kInvalidArgument);
  EXPECT_EQ(error_of({}, {{"n", {1, 4, 0}}}),
            "dimension n: min is 1, max is 4 and multiple_of is 0, expected 0 <= min <= max and "
            "multiple_of >= 1");
}

}  // namespace
}  // namespace scopevm

// Declarations that verify() rejects: each rule once, by one change to a valid module.
// verify_code_test.cpp does the same for code.
#include "vm/format/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/vm/format/sample_modules.h"

namespace scopevm::format {
namespace {

constexpr uint32_t kHuge = 0x7FFFFFFF;

std::string error_of(const ModuleContents& module) { return std::string(verify(module).message()); }

struct Declaration {
  const char* name;
  std::function<void(ModuleContents&)> change;
  const char* error;
};

ConstantDecl ids(const std::vector<int32_t>& elements) {
  return {"ids",
          DType::kStr,
          {static_cast<int64_t>(elements.size())},
          2,
          bytes_of({reinterpret_cast<const char*>(elements.data()), elements.size() * 4})};
}

TEST(Verify, AcceptsCompilerOutput) {
  EXPECT_EQ(error_of(dense_module()), "");
  EXPECT_EQ(error_of(branching_module()), "");
  EXPECT_EQ(error_of(string_module()), "");
  EXPECT_EQ(error_of(variant_module()), "");
  EXPECT_EQ(error_of(stack_module()), "");
}

void PrintTo(const Declaration& declaration, std::ostream* out) { *out << declaration.name; }

const Declaration kDeclarations[] = {
    {"NoDevice", [](auto& m) { m.devices.clear(); }, "module has no device"},
    {"PoolDevice", [](auto& m) { m.pools[1].device = 5; },
     "pool 1: device 5 is out of range: there are 1"},
    {"PoolKind", [](auto& m) { m.pools[1].kind = static_cast<PoolKind>(9); },
     "pool 1: kind is not known"},
    {"PoolLimit", [](auto& m) { m.pools[1].limit = -2; }, "pool 1: limit -2"},
    {"PoolBandwidthNegative", [](auto& m) { m.pools[1].bytes_per_second = -1e9; },
     "pool 1: its bytes per second are out of range"},
    {"PoolBandwidthNan", [](auto& m) { m.pools[1].bytes_per_second = NAN; },
     "pool 1: its bytes per second are out of range"},
    {"PoolLatency", [](auto& m) { m.pools[1].latency_seconds = -1e-6; },
     "pool 1: its latency is out of range"},
    {"PoolLatencyInfinite", [](auto& m) { m.pools[1].latency_seconds = INFINITY; },
     "pool 1: its latency is out of range"},
    {"PoolAlignmentNone", [](auto& m) { m.pools[1].alignment = 0; }, "pool 1: alignment 0"},
    {"PoolAlignmentOdd", [](auto& m) { m.pools[1].alignment = 192; }, "pool 1: alignment 192"},
    {"PoolAlignmentSmall", [](auto& m) { m.pools[1].alignment = 32; }, "pool 1: alignment 32"},
    {"PoolAlignmentLarge", [](auto& m) { m.pools[1].alignment = 8192; }, "pool 1: alignment 8192"},
    {"PinnedForNobody", [](auto& m) { m.pools[1].pinned_for = 7; },
     "pool 1: device 7 is out of range: there are 1"},
    {"PinnedForACpu", [](auto& m) { m.pools[1].pinned_for = 0; }, "pool 1: is pinned for a CPU"},
    {"PinnedOnADevice",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[1].device = m.pools[1].pinned_for = 1;
     },
     "pool 1: is pinned, and of a device that is no CPU"},
    {"PinnedConstants",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[2].pinned_for = 1;
     },
     "pool 2: is pinned, and no arena"},
    {"PinnedHeap",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[0].pinned_for = 1;
     },
     "pool 0: is pinned, and no arena"},
    {"PinnedForLessThanNone", [](auto& m) { m.pools[1].pinned_for = -2; },
     "pool 1: is pinned for device -2"},
    {"NumberOfACpu", [](auto& m) { m.devices[0].number = 1; }, "device \"cpu\": number 1"},
    {"NumberOfADevice", [](auto& m) { m.devices.push_back({"gpu", "opencl", 1, 70000}); },
     "device \"gpu\": number 70000"},
    {"ImageDevice", [](auto& m) { m.images[0].device = 1; },
     "image 0: device 1 is out of range: there are 1"},
    {"ImageEmpty", [](auto& m) { m.images[1].bytes = {}; }, "image 1: is empty"},
    {"ImageFeature", [](auto& m) { m.images[0].features = {"avx512f sse"}; },
     "image 0: \"avx512f sse\" is not a feature's name"},
    {"NoImage", [](auto& m) { m.images.clear(); },
     "module has kernels or shape functions but no image for a CPU"},
    {"KernelSymbol", [](auto& m) { m.kernels[0].symbol = ""; }, "kernel 0: has no symbol"},
    {"ShapeSymbol", [](auto& m) { m.shape_functions[0].symbol = ""; },
     "shape function 0: has no symbol"},
    {"MoreCheckSlots", [](auto& m) { m.shape_functions[0].checks[0].more_slots = {0, 5}; },
     "shape function 0: check slot 5 is out of range: there are 5"},
    {"CheckSlot", [](auto& m) { m.shape_functions[0].checks[0].rhs_slot = 5; },
     "shape function 0: check slot 5 is out of range: there are 5"},
    {"ConstantPool", [](auto& m) { m.constants[0].pool = 3; },
     "constant 0 \"fc.weight\": pool 3 is out of range: there are 3"},
    {"ConstantType", [](auto& m) { m.constants[0].dtype = static_cast<DType>(kDTypeCount); },
     "constant 0 \"fc.weight\": element type is not known"},
    {"ConstantSize", [](auto& m) { m.constants[0].dims = {8, 5}; },
     "constant 0 \"fc.weight\": dims take 160 bytes, it has 128"},
    {"ConstantNegative", [](auto& m) { m.constants[0].dims = {-8, -4}; },
     "constant 0 \"fc.weight\": dims are negative or too large"},
    {"ConstantOverflow",
     [](auto& m) { m.constants[0].dims = {int64_t{1} << 62, int64_t{1} << 62}; },
     "constant 0 \"fc.weight\": dims are negative or too large"},
    {"FirstString", [](auto& m) { m.strings = {"a"}; }, "text 0: is not the empty text"},
    {"StringTwice", [](auto& m) { m.strings = {"", "a", "b", "a"}; }, "text 3: is there twice"},
    {"IdOutOfRange", [](auto& m) { m.constants[1] = ids({0, 1, 2}), m.strings = {"", "a"}; },
     "constant 1 \"ids\": text 2 is out of range: there are 2"},
    {"IdBelowZero", [](auto& m) { m.constants[1] = ids({-1}), m.strings = {""}; },
     "constant 1 \"ids\": text 4294967295 is out of range: there are 1"},
    {"IdWithoutStrings", [](auto& m) { m.constants[1] = ids({0}); },
     "constant 1 \"ids\": text 0 is out of range: there are 0"},
    {"NoMain", [](auto& m) { m.functions[0].name = "man"; }, "module has no function \"main\""},
    {"TwoMains", [](auto& m) { m.functions.push_back(m.functions[0]); },
     "function \"main\": a second one of this name"},
    {"InputType", [](auto& m) { m.functions[0].inputs[0].dtype = static_cast<DType>(99); },
     "main: input: \"x\": element type is not known"},
    {"InputDim", [](auto& m) { m.functions[0].inputs[0].dims[0] = "k"; },
     "main: input \"x\": dim \"k\" is neither a number nor a declared dimension, nor an "
     "expression"},
    {"InputTwice", [](auto& m) { m.functions[0].inputs.push_back(m.functions[0].inputs[0]); },
     "main: input \"x\": a second one of this name"},
    {"OutputDimText", [](auto& m) { m.functions[0].outputs[0].dims[0].assign(5000, 'n'); },
     "main: output: \"y\": dim text of 5000 characters"},
    {"DimensionName", [](auto& m) { m.functions[0].dimensions.push_back({"n"}); },
     "main: dimension \"n\": is not a name of its own"},
    {"DimensionBounds", [](auto& m) { m.functions[0].dimensions[0].min = 600; },
     "main: dimension \"n\": bounds are not valid"},
    {"Registers", [](auto& m) { m.functions[0].register_count = 0; },
     "main: 0 registers do not hold 1 inputs"},
    {"RegistersHuge", [](auto& m) { m.functions[0].register_count = kHuge; },
     "main: 2147483647 registers are more than the code can name"},
    {"SlotsHuge", [](auto& m) { m.functions[0].slot_count = kHuge; },
     "main: 2147483647 slots, the limit is 1048576"},
    {"MemoryPool", [](auto& m) { m.functions[0].memory[0].pool = 3; },
     "main: memory \"workspace\": pool 3 is out of range: there are 3"},
    {"MemorySlot", [](auto& m) { m.functions[0].memory[0].lower_bound_slot = 5; },
     "main: memory \"workspace\": slot 5 is out of range: there are 5"},
    {"SourceWord", [](auto& m) { m.functions[0].sources[0].word = 1; },
     "main: source \"fc+relu\": word 1 is not an instruction, or not in order"},
    {"NoCode",
     [](auto& m) {
       m.functions[0].code = {};
       m.functions[0].register_count = 1;
     },
     "main: has no code"},
};

class VerifyDeclaration : public ::testing::TestWithParam<Declaration> {};
TEST_P(VerifyDeclaration, IsRejected) {
  ModuleContents module = dense_module();
  GetParam().change(module);
  EXPECT_EQ(error_of(module), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(Each, VerifyDeclaration, ::testing::ValuesIn(kDeclarations),
                         [](const auto& test) { return test.param.name; });

const Declaration kVariants[] = {
    {"Function", [](auto& m) { m.variants[0].function = 2; },
     "variant 0: function 2 is out of range: there are 2"},
    {"HugeFunction", [](auto& m) { m.variants[0].function = UINT32_MAX; },
     "variant 0: function 4294967295 is out of range: there are 2"},
    {"Main", [](auto& m) { m.variants[0].function = 0; }, "variant 0: is main itself"},
    {"Second",
     [](auto& m) {
       m.variants.push_back(m.variants[0]);
       m.variants[1].function = 9;
     },
     "variant 1: function 9 is out of range: there are 2"},
    {"InputName", [](auto& m) { m.functions[1].inputs[0].name = "y"; },
     "variant 0: its inputs are not those of main"},
    {"InputType", [](auto& m) { m.functions[1].inputs[0].dtype = DType::kF64; },
     "variant 0: its inputs are not those of main"},
    {"InputKind", [](auto& m) { m.functions[1].inputs[0].kind = ValueKind::kSequence; },
     "variant 0: its inputs are not those of main"},
    {"OutputKind", [](auto& m) { m.functions[1].outputs[0].kind = ValueKind::kSequence; },
     "variant 0: its outputs are not those of main"},
    {"InputRank", [](auto& m) { m.functions[1].inputs[0].dims = {"1", "2", "4"}; },
     "variant 0: its inputs are not those of main"},
    {"InputCount", [](auto& m) { m.functions[1].inputs.push_back({"z", DType::kF32, {}}); },
     "variant 0: its inputs are not those of main"},
    {"OutputType", [](auto& m) { m.functions[1].outputs[0].dtype = DType::kI32; },
     "variant 0: its outputs are not those of main"},
    {"OutputRank", [](auto& m) { m.functions[1].outputs[0].dims.clear(); },
     "variant 0: its outputs are not those of main"},
    {"InputElsewhere",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools.push_back({"global", PoolKind::kHeap, 1, -1});
       m.functions[1].inputs[0].pool = 3;
     },
     "variant 0: \"x\": callers of the module have host memory only"},
    {"OutputCount", [](auto& m) { m.functions[1].outputs.clear(); },
     "variant 0: its outputs are not those of main"},
    {"FewDimensions", [](auto& m) { m.variants[0].dimensions.clear(); },
     "variant 0: its dimensions are not those of main"},
    {"ManyDimensions", [](auto& m) { m.variants[0].dimensions.push_back({"n", 1, 1, 1}); },
     "variant 0: its dimensions are not those of main"},
    {"DimensionName", [](auto& m) { m.variants[0].dimensions[0].name = "m"; },
     "variant 0: its dimensions are not those of main"},
    {"DimensionOrder", [](auto& m) { m.variants[0].dimensions[0].max = 0; },
     "variant 0: dimension \"n\": bounds are not valid"},
    {"DimensionFactor", [](auto& m) { m.variants[0].dimensions[0].multiple_of = 0; },
     "variant 0: dimension \"n\": bounds are not valid"},
    {"DimensionNegative", [](auto& m) { m.variants[0].dimensions[0].min = INT64_MIN; },
     "variant 0: dimension \"n\": bounds are not valid"},
};

class VerifyVariant : public ::testing::TestWithParam<Declaration> {};
TEST_P(VerifyVariant, IsRejected) {
  ModuleContents module = variant_module();
  GetParam().change(module);
  EXPECT_EQ(error_of(module), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(Each, VerifyVariant, ::testing::ValuesIn(kVariants),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace scopevm::format

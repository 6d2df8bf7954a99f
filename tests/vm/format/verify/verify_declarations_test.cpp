// Declarations that verify() rejects: one change to a valid module per rule. verify() accepts the
// sample modules. verify_code_test.cpp tests the rules for code.
#include "vm/format/verify/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/vm/format/sample_modules.h"
#include "tests/vm/format/verify/error_of.h"

namespace scopevm::format {
namespace {

constexpr uint32_t kHuge = 0x7FFFFFFF;

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

TEST(Verify, AcceptsSampleModules) {
  EXPECT_EQ(error_of(dense_module()), "");
  EXPECT_EQ(error_of(branching_module()), "");
  EXPECT_EQ(error_of(string_module()), "");
  EXPECT_EQ(error_of(variant_module()), "");
  EXPECT_EQ(error_of(stack_module()), "");
  EXPECT_EQ(error_of(external_module()), "");
}

void PrintTo(const Declaration& declaration, std::ostream* out) { *out << declaration.name; }

const Declaration kDeclarations[] = {
    {"NoDevice", [](auto& m) { m.devices.clear(); }, "module has no device"},
    {"DuplicateDevice", [](auto& m) { m.devices.push_back({"cpu", "opencl", 1}); },
     "duplicate device \"cpu\""},
    {"DuplicatePool", [](auto& m) { m.pools[1].scope = "global"; },
     "pool 1: duplicate scope \"global\" of device \"cpu\""},
    {"PoolDevice", [](auto& m) { m.pools[1].device = 5; },
     "pool 1: device 5 is out of range [0, 1)"},
    {"PoolKind", [](auto& m) { m.pools[1].kind = static_cast<PoolKind>(9); },
     "pool 1: unknown kind 9"},
    {"PoolLimit", [](auto& m) { m.pools[1].limit = -2; },
     "pool 1: limit is -2, expected at least 0, or -1 for none"},
    {"PoolBandwidthNegative", [](auto& m) { m.pools[1].speed.read_bytes_per_second = -1e9; },
     "pool 1: read_bytes_per_second is out of range"},
    {"PoolBandwidthMinusZero", [](auto& m) { m.pools[1].speed.read_bytes_per_second = -0.0; },
     "pool 1: read_bytes_per_second is out of range"},
    {"PoolBandwidthSmall", [](auto& m) { m.pools[1].speed.read_bytes_per_second = 0.5; },
     "pool 1: read_bytes_per_second is out of range"},
    {"PoolBandwidthLarge", [](auto& m) { m.pools[1].speed.write_bytes_per_second = 1e300; },
     "pool 1: write_bytes_per_second is out of range"},
    {"PoolBandwidthNan", [](auto& m) { m.pools[1].speed.write_bytes_per_second = NAN; },
     "pool 1: write_bytes_per_second is out of range"},
    {"PoolLatency", [](auto& m) { m.pools[1].speed.latency_seconds = -1e-6; },
     "pool 1: latency_seconds is out of range"},
    {"PoolWriteLatency", [](auto& m) { m.pools[1].speed.write_latency_seconds = 1e-13; },
     "pool 1: write_latency_seconds is out of range"},
    {"PoolLatencySubnormal", [](auto& m) { m.pools[1].speed.latency_seconds = 1e-310; },
     "pool 1: latency_seconds is out of range"},
    {"PoolLatencyLarge", [](auto& m) { m.pools[1].speed.latency_seconds = 3601; },
     "pool 1: latency_seconds is out of range"},
    {"PoolLatencyInfinite", [](auto& m) { m.pools[1].speed.latency_seconds = INFINITY; },
     "pool 1: latency_seconds is out of range"},
    {"PoolBurstNone", [](auto& m) { m.pools[1].speed.burst_bytes = 0; },
     "pool 1: burst_bytes is out of range"},
    {"PoolBurstLarge", [](auto& m) { m.pools[1].speed.burst_bytes = (1 << 30) + 1; },
     "pool 1: burst_bytes is out of range"},
    {"PoolAlignmentNone", [](auto& m) { m.pools[1].alignment = 0; },
     "pool 1: alignment is 0, expected a power of two from 64 to 4096"},
    {"PoolAlignmentOdd", [](auto& m) { m.pools[1].alignment = 192; },
     "pool 1: alignment is 192, expected a power of two from 64 to 4096"},
    {"PoolAlignmentSmall", [](auto& m) { m.pools[1].alignment = 32; },
     "pool 1: alignment is 32, expected a power of two from 64 to 4096"},
    {"PoolAlignmentLarge", [](auto& m) { m.pools[1].alignment = 8192; },
     "pool 1: alignment is 8192, expected a power of two from 64 to 4096"},
    {"PinnedForUnknownDevice", [](auto& m) { m.pools[1].pinned_for = 7; },
     "pool 1: device 7 is out of range [0, 1)"},
    {"PinnedForACpu", [](auto& m) { m.pools[1].pinned_for = 0; },
     "pool 1: pinned for device \"cpu\", a CPU; expected a non-CPU device"},
    {"PinnedOnADevice",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[1].device = m.pools[1].pinned_for = 1;
     },
     "pool 1: pinned pool of a non-CPU device"},
    {"PinnedConstants",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[2].pinned_for = 1;
     },
     "pool 2: pinned pool must be an arena"},
    {"PinnedHeap",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[0].pinned_for = 1;
     },
     "pool 0: pinned pool must be an arena"},
    {"SharedByTwoDevices",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.devices.push_back({"npu", "opencl", 1});
       m.pools[1].shared_with = {1, 2};
     },
     "pool 1: shared_with contains device \"npu\" of kind opencl, expected kind cpu"},
    {"SharedMemoryOfADevice",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[1].device = 1;
       m.pools[1].shared_with = {0};
     },
     "pool 1: shared_with contains device \"cpu\" of kind cpu, expected kind opencl"},
    {"SharedHeap",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[0].shared_with = {1};
     },
     "pool 0: pool that is shared with a non-CPU device must be an arena"},
    {"SharedAndPinned",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[1].shared_with = {1};
       m.pools[1].pinned_for = 1;
     },
     "pool 1: pinned pool is shared with a non-CPU device"},
    {"InputInSharedPool",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools[1].shared_with = {1};
       m.functions[0].inputs[0].pool = 1;
     },
     "main: input \"x\" is declared in pool \"global.workspace\", which device \"gpu\" "
     "accesses"},
    {"DefaultOutOfRange", [](auto& m) { m.functions[0].inputs[0].default_constant = 3; },
     "main: input \"x\": constant 3 is out of range [0, 3)"},
    {"DefaultLessThanNone", [](auto& m) { m.functions[0].inputs[0].default_constant = -2; },
     "main: input \"x\": constant 4294967294 is out of range [0, 3)"},
    {"StateOutputOutOfRange", [](auto& m) { m.functions[0].inputs[0].state_output = 9; },
     "main: input \"x\": state output 9 is out of range [0, 1)"},
    {"InPlaceWithoutAnOutput", [](auto& m) { m.functions[0].inputs[0].is_in_place = true; },
     "main: input \"x\": state output 4294967295 is out of range [0, 1)"},
    {"StateOfAnotherType",
     [](auto& m) {
       m.functions[0].inputs[0].state_output = 0;
       m.functions[0].outputs[0].dtype = DType::kI64;
     },
     "main: input \"x\": state output \"y\": not of the input's type"},
    {"DefaultOfAnotherRank", [](auto& m) { m.functions[0].inputs[0].default_constant = 1; },
     "main: input \"x\": default \"fc.scale\": not of the input's type"},
    {"DefaultOfAnotherType", [](auto& m) { m.functions[0].inputs[0].default_constant = 2; },
     "main: input \"x\": default \"empty\": not of the input's type"},
    {"DefaultOfAnotherSize", [](auto& m) { m.functions[0].inputs[0].default_constant = 0; },
     "main: input \"x\": default \"fc.weight\": not of the input's type"},
    {"DefaultInMemoryOfAnotherRank",
     [](auto& m) {
       m.required_features = {std::string(kRanksFeature)};
       m.devices.push_back({"one", m.devices[0].kind});
       m.devices[1].rank = 1;
       m.pools.push_back(m.pools[2]);
       m.pools.back().device = 1;
       m.constants[0].pool = static_cast<uint32_t>(m.pools.size()) - 1;
       m.functions[0].inputs[0].default_constant = 0;
     },
     "main: input \"x\": default \"fc.weight\" is in memory of rank 1, expected rank 0"},
    {"PinnedForLessThanNone", [](auto& m) { m.pools[1].pinned_for = -2; },
     "pool 1: pinned_for is -2, expected a device index or -1"},
    {"NumberOfACpu", [](auto& m) { m.devices[0].number = 1; },
     "device \"cpu\": number is 1, expected 0 for a CPU"},
    {"NumberOfADevice", [](auto& m) { m.devices.push_back({"gpu", "opencl", 1, 70000}); },
     "device \"gpu\": number is 70000, expected at most 65536"},
    {"RankOfTheHost", [](auto& m) { m.devices[0].rank = 1; },
     "device \"cpu\": rank is 1, expected 0 for the first CPU"},
    {"RankOfADevice", [](auto& m) { m.devices.push_back({"gpu", "opencl", 1, 0, 1}); },
     "device \"gpu\": rank is 1, expected 0 for a device that is not a CPU"},
    {"RankOutOfRange", [](auto& m) { m.devices.push_back({"far", "cpu", 0, 0, 256}); },
     "device \"far\": rank is 256, expected less than 256"},
    {"RankWithoutADevice", [](auto& m) { m.devices.push_back({"far", "cpu", 0, 0, 2}); },
     "2 ranks, of which the last one is 2"},
    {"SharedByRanks",
     [](auto& m) {
       m.devices.push_back({"far", "cpu", 0, 0, 1});
       m.pools[1].shared_with = {1};
     },
     "pool 1: shared_with contains device \"far\" of another rank"},
    {"InputOnAnotherRank",
     [](auto& m) {
       m.devices.push_back({"far", "cpu", 0, 0, 1});
       m.pools.push_back({"global", PoolKind::kHeap, 1, -1});
       m.functions[0].inputs[0].pool = 3;
     },
     "main: \"x\": a value of the module's interface that is not a state in place must be in "
     "memory "
     "of rank 0, given memory of device \"far\""},
    {"ImageDevice", [](auto& m) { m.images[0].devices = {1}; },
     "image 0: device 1 is out of range [0, 1)"},
    {"ImageWithoutDevices", [](auto& m) { m.images[0].devices.clear(); },
     "image 0: has no devices"},
    {"ImageDeviceTwice", [](auto& m) { m.images[0].devices = {0, 0}; },
     "image 0: duplicate device \"cpu\""},
    {"ImageDeviceKinds",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.images[0].devices = {0, 1};
     },
     "image 0: device \"gpu\" is of kind opencl, expected kind cpu"},
    {"ImageEmpty", [](auto& m) { m.images[1].bytes = {}; }, "image 1: is empty"},
    {"ImageFeature", [](auto& m) { m.images[0].features = {"avx512f sse"}; },
     "image 0: invalid feature name \"avx512f sse\""},
    {"NoImage", [](auto& m) { m.images.clear(); },
     "module has shape functions but no image for the host"},
    {"KernelSymbol", [](auto& m) { m.kernels[0].symbol = ""; }, "kernel 0: has no symbol"},
    {"ShapeSymbol", [](auto& m) { m.shape_functions[0].symbol = ""; },
     "shape function 0: has no symbol"},
    {"MoreCheckSlots", [](auto& m) { m.shape_functions[0].checks[0].more_slots = {0, 5}; },
     "shape function 0: check slot 5 is out of range [0, 5)"},
    {"CheckSlot", [](auto& m) { m.shape_functions[0].checks[0].rhs_slot = 5; },
     "shape function 0: check slot 5 is out of range [0, 5)"},
    {"ConstantPool", [](auto& m) { m.constants[0].pool = 3; },
     "constant 0 \"fc.weight\": pool 3 is out of range [0, 3)"},
    {"ConstantType", [](auto& m) { m.constants[0].dtype = static_cast<DType>(kDTypeCount); },
     "constant 0 \"fc.weight\": element type 24 is out of range [0, 24)"},
    {"ConstantSize", [](auto& m) { m.constants[0].dims = {8, 5}; },
     "constant 0 \"fc.weight\": dims require 160 bytes, given 128"},
    {"ConstantNegative", [](auto& m) { m.constants[0].dims = {-8, -4}; },
     "constant 0 \"fc.weight\": dims are negative or too large"},
    {"ConstantOverflow",
     [](auto& m) { m.constants[0].dims = {int64_t{1} << 62, int64_t{1} << 62}; },
     "constant 0 \"fc.weight\": dims are negative or too large"},
    {"FirstString", [](auto& m) { m.strings = {"a"}; }, "string 0: expected the empty string"},
    {"StringTwice", [](auto& m) { m.strings = {"", "a", "b", "a"}; },
     "string 3: duplicate of an earlier string"},
    {"IdOutOfRange", [](auto& m) { m.constants[1] = ids({0, 1, 2}), m.strings = {"", "a"}; },
     "constant 1 \"ids\": string id 2 is out of range [0, 2)"},
    {"IdBelowZero", [](auto& m) { m.constants[1] = ids({-1}), m.strings = {""}; },
     "constant 1 \"ids\": string id 4294967295 is out of range [0, 1)"},
    {"IdWithoutStrings", [](auto& m) { m.constants[1] = ids({0}); },
     "constant 1 \"ids\": string id 0 is out of range [0, 0)"},
    {"NoMain", [](auto& m) { m.functions[0].name = "man"; }, "module has no function \"main\""},
    {"TwoMains", [](auto& m) { m.functions.push_back(m.functions[0]); },
     "duplicate function \"main\""},
    {"InputType", [](auto& m) { m.functions[0].inputs[0].dtype = static_cast<DType>(99); },
     "main: input: \"x\": element type 99 is out of range [0, 24)"},
    {"InputDim", [](auto& m) { m.functions[0].inputs[0].dims[0] = "k"; },
     "main: input \"x\": dim \"k\": expected a number, a declared dimension or an "
     "expression"},
    {"InputTwice", [](auto& m) { m.functions[0].inputs.push_back(m.functions[0].inputs[0]); },
     "main: duplicate input \"x\""},
    {"OutputDimText", [](auto& m) { m.functions[0].outputs[0].dims[0].assign(70'000, 'n'); },
     "main: output: \"y\": a dim has 70000 characters, expected 1 to 65536"},
    {"DimensionName", [](auto& m) { m.functions[0].dimensions.push_back({"n"}); },
     "main: duplicate dimension \"n\""},
    {"DimensionBounds", [](auto& m) { m.functions[0].dimensions[0].min = 600; },
     "main: dimension \"n\": invalid bounds: min 600, max 512, multiple_of 1; expected 0 "
     "<= min <= max and multiple_of >= 1"},
    {"Registers", [](auto& m) { m.functions[0].register_count = 0; },
     "main: 0 registers, expected at least 1 for the inputs"},
    {"RegistersHuge", [](auto& m) { m.functions[0].register_count = kHuge; },
     "main: 2147483647 registers are too many for the code"},
    {"SlotsHuge", [](auto& m) { m.functions[0].slot_count = kHuge; },
     "main: 2147483647 slots, the limit is 1048576"},
    {"MemoryPool", [](auto& m) { m.functions[0].memory[0].pool = 3; },
     "main: memory \"workspace\": pool 3 is out of range [0, 3)"},
    {"MemorySlot", [](auto& m) { m.functions[0].memory[0].lower_bound_slot = 5; },
     "main: memory \"workspace\": slot 5 is out of range [0, 5)"},
    {"SourceWord", [](auto& m) { m.functions[0].sources[0].word = 1; },
     "main: source \"fc+relu\": word 1 is not the start of an instruction, or precedes that "
     "of the previous source"},
    {"NoCode",
     [](auto& m) {
       m.functions[0].code = {};
       m.functions[0].register_count = 1;
     },
     "main: the function has no code"},
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
     "variant 0: function 2 is out of range [0, 2)"},
    {"HugeFunction", [](auto& m) { m.variants[0].function = UINT32_MAX; },
     "variant 0: function 4294967295 is out of range [0, 2)"},
    {"Main", [](auto& m) { m.variants[0].function = 0; },
     "variant 0: function is main, expected another function"},
    {"Second",
     [](auto& m) {
       m.variants.push_back(m.variants[0]);
       m.variants[1].function = 9;
     },
     "variant 1: function 9 is out of range [0, 2)"},
    {"InputName", [](auto& m) { m.functions[1].inputs[0].name = "y"; },
     "variant 0: inputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"InputType", [](auto& m) { m.functions[1].inputs[0].dtype = DType::kF64; },
     "variant 0: inputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"InputKind", [](auto& m) { m.functions[1].inputs[0].kind = ValueKind::kSequence; },
     "variant 0: inputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"OutputKind", [](auto& m) { m.functions[1].outputs[0].kind = ValueKind::kSequence; },
     "variant 0: outputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"InputRank", [](auto& m) { m.functions[1].inputs[0].dims = {"1", "2", "4"}; },
     "variant 0: inputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"InputCount", [](auto& m) { m.functions[1].inputs.push_back({"z", DType::kF32, {}}); },
     "variant 0: inputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"OutputType", [](auto& m) { m.functions[1].outputs[0].dtype = DType::kI32; },
     "variant 0: outputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"OutputRank", [](auto& m) { m.functions[1].outputs[0].dims.clear(); },
     "variant 0: outputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"InputElsewhere",
     [](auto& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.pools.push_back({"global", PoolKind::kHeap, 1, -1});
       m.functions[1].inputs[0].pool = 3;
     },
     "variant 0: \"x\": a value of the module's interface must be in host memory, given memory of "
     "device \"gpu\""},
    {"OutputCount", [](auto& m) { m.functions[1].outputs.clear(); },
     "variant 0: outputs differ from those of main: expected the same names, kinds, element types "
     "and ranks"},
    {"FewDimensions", [](auto& m) { m.variants[0].dimensions.clear(); },
     "variant 0: dimensions differ from those of main: expected the same names in this order"},
    {"ManyDimensions", [](auto& m) { m.variants[0].dimensions.push_back({"n", 1, 1, 1}); },
     "variant 0: dimensions differ from those of main: expected the same names in this order"},
    {"DimensionName", [](auto& m) { m.variants[0].dimensions[0].name = "m"; },
     "variant 0: dimensions differ from those of main: expected the same names in this order"},
    {"DimensionOrder", [](auto& m) { m.variants[0].dimensions[0].max = 0; },
     "variant 0: dimension \"n\": invalid bounds: min 1, max 0, multiple_of 1; expected 0 "
     "<= min <= max and multiple_of >= 1"},
    {"DimensionFactor", [](auto& m) { m.variants[0].dimensions[0].multiple_of = 0; },
     "variant 0: dimension \"n\": invalid bounds: min 1, max 1, multiple_of 0; expected 0 "
     "<= min <= max and multiple_of >= 1"},
    {"DimensionNegative", [](auto& m) { m.variants[0].dimensions[0].min = INT64_MIN; },
     "variant 0: dimension \"n\": invalid bounds: min -9223372036854775808, max 1, multiple_of 1; "
     "expected 0 "
     "<= min <= max and multiple_of >= 1"},
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

// Launches and shape functions that verify() rejects: wrong tables, and code in which the shape
// function of a launch is not in effect.
#include <gtest/gtest.h>

#include <functional>

#include "tests/vm/format/verify/error_of.h"
#include "vm/format/assembly/assembler.h"
#include "vm/format/binary/launch_checksum.h"
#include "vm/format/verify/verify.h"

namespace scopevm::format {
namespace {

// Instructions write slots 0 and 1. Shape function @late follows @first; @other is independent. The
// first launch needs @first, the second @late. The kernel reads %r0 or %r2 and writes %r2.
ModuleContents launch_module(const std::string& code) {
  const Result<ModuleContents> module = assemble(R"(
    scopevm_module 0.15 producer "test"
    device "cpu" kind "cpu"
    pool "global" heap device 0 limit -1
    kernel "k" buffers 2 params 1
    kernel "l" buffers 2 params 0
    launch kernel 0 params s2 grid s3 grain 1 bytes [s4, 4] reads 1 requires 0
    launch kernel 1 params s0 grid s5 grain 1 bytes [s4, 4] reads 1 requires 1
    shape_function "first" slots 6 dims 1 first_slot 2 {
    }
    shape_function "late" slots 6 dims 0 first_slot 2 follows 0 {
    }
    shape_function "other" slots 6 dims 0 first_slot 2 {
    }
    function "main" registers 3 slots 7 {
      input "x" f32 ["n"]
      output "y" f32 ["n"]
      dimension "n" min 1 max 9 multiple_of 1
      code {
        %r1 = alloc_storage @global size=4
        %r2 = alloc_tensor %r1 offset=0 bytes=4 f32 [1]
        )" + code + R"(
        ret (%r2)
      }
    }
    image devices [0] cpu "x86-64" features [] bytes 4 {
      AACAPw==
    }
    )");
  EXPECT_TRUE(module.ok()) << module.status().message();
  return *module;
}

std::string code_error(const std::string& code) { return error_of(launch_module(code)); }

constexpr char kFirst[] = "shape_function @first (%r0)\n";
constexpr char kLate[] = "shape_function @late ()\n";
constexpr char kOther[] = "shape_function @other ()\n";
constexpr char kLaunch[] = "launch @k (%r0, %r2)\n";
constexpr char kLaunchLate[] = "launch @l (%r0, %r2)\n";

std::string all(std::initializer_list<const char*> parts) {
  std::string text;
  for (const char* part : parts) text += part;
  return text;
}

TEST(VerifyLaunch, AcceptsALaunchAfterItsShapeFunction) {
  EXPECT_EQ(code_error(all({kFirst, kLaunch, kLate, kLaunch, kLaunchLate, kLaunch})), "");
}

TEST(VerifyLaunch, NeedsItsShapeFunction) {
  EXPECT_EQ(
      code_error(kLaunch),
      "main: word 12: launch: shape function \"first\" is not in effect: no shape function is, "
      "on every path");
  EXPECT_EQ(
      code_error(all({kFirst, kLaunchLate})),
      "main: word 16: launch: shape function \"late\" is not in effect: the last one on every "
      "path is \"first\"");
}

TEST(VerifyLaunch, AShapeFunctionNeedsTheOneThatItFollows) {
  EXPECT_EQ(code_error(kLate),
            "main: word 12: shape_function: shape function \"first\" is not in effect: no shape "
            "function is, on every path");
}

TEST(VerifyLaunch, AnotherRunEndsTheEffect) {
  const std::string late = "shape function \"late\" is not in effect";
  EXPECT_NE(code_error(all({kFirst, kLate, kFirst, kLaunchLate})).find(late), std::string::npos);
  EXPECT_NE(code_error(all({kFirst, kLate, kOther, kFirst, kLaunchLate})).find(late),
            std::string::npos);
  EXPECT_EQ(code_error(all({kFirst, kLate, kFirst, kLate, kLaunchLate})), "");
  EXPECT_NE(code_error(all({kFirst, kOther, kLaunch})).find("shape function \"first\" is not"),
            std::string::npos);
}

TEST(VerifyLaunch, AnEffectMustReachTheLaunchOnEveryPath) {
  const auto branching = [](const char* inside, const char* after) {
    return all({kFirst, "branch condition=s0 then_to=then else_to=after\nthen:\n", inside,
                "jump after\nafter:\n", after});
  };
  EXPECT_EQ(code_error(branching(kLate, kLaunch)), "");
  EXPECT_EQ(code_error(branching(all({kLate, kLaunchLate}).c_str(), kLaunch)), "");
  EXPECT_NE(code_error(branching(kLate, kLaunchLate)).find("\"late\" is not in effect"),
            std::string::npos);
  EXPECT_NE(code_error(branching(kOther, kLaunch)).find("\"first\" is not in effect"),
            std::string::npos);
}

// At the first visit of the loop, @late is in effect.
TEST(VerifyLaunch, AnEffectMustSurviveALoop) {
  const auto loop = [](const char* end) {
    return all({kFirst, kLate, "jump top\ntop:\n", kLaunchLate, end,
                "branch condition=s0 then_to=top else_to=done\ndone:\n"});
  };
  EXPECT_EQ(code_error(loop("")), "");
  EXPECT_EQ(code_error(loop(kLate)), "");
  EXPECT_NE(code_error(loop(kFirst)).find("\"late\" is not in effect"), std::string::npos);
}

TEST(VerifyLaunch, InstructionsDoNotWriteSlotsOfShapeFunctions) {
  EXPECT_EQ(code_error(all({kFirst, "set_slot dst=s1 value=1000000\n"})), "");
  EXPECT_EQ(code_error("set_slot dst=s3 value=1000000\n"), "") << "without a shape function";
  EXPECT_EQ(code_error(all({kFirst, "set_slot dst=s6 value=1000000\n"})), "");
  for (const char* write : {"set_slot dst=s3 value=1000000\n", "add_slot dst=s3 by=1000000\n",
                            "load_dim dst=s3 %r0 axis=0\n"})
    EXPECT_NE(code_error(all({kFirst, write}))
                  .find("slot 3 is among those that the function's shape functions write, [2, 6)"),
              std::string::npos)
        << write;
}

TEST(VerifyLaunch, AKernelDoesNotWriteInputs) {
  EXPECT_EQ(code_error(all({kFirst, "launch @k (%r2, %r0)\n"})),
            "main: word 16: launch: register 0 holds a constant or an input, which is read-only");
}

struct Table {
  const char* name;
  std::function<void(ModuleContents&)> change;
  const char* error;
};

void PrintTo(const Table& table, std::ostream* out) { *out << table.name; }

const Table kTables[] = {
    {"Kernel", [](ModuleContents& m) { m.launches[0].kernel = 2; },
     "launch 0: kernel 2 is out of range [0, 2)"},
    {"ShapeFunction", [](ModuleContents& m) { m.launches[0].shape_function = 3; },
     "launch 0: shape function 3 is out of range [0, 3)"},
    {"NegativeShapeFunction", [](ModuleContents& m) { m.launches[0].shape_function = -2; },
     "launch 0: shape function is -2, expected an index or -1"},
    {"NoShapeFunction", [](ModuleContents& m) { m.launches[0].shape_function = -1; },
     "launch 0: uses slots but has no shape function"},
    {"Params", [](ModuleContents& m) { m.launches[0].params = {6}; },
     "launch 0: slots [6, 7) are outside of those that shape function \"first\" writes, [2, 6)"},
    {"Grid", [](ModuleContents& m) { m.launches[0].grid = isa::Int::slot({1}); },
     "launch 0: slots [1, 2) are outside of those that shape function \"first\" writes, [2, 6)"},
    {"Bytes", [](ModuleContents& m) { m.launches[1].bytes[1] = isa::Int::slot({6}); },
     "launch 1: slots [6, 7) are outside of those that shape function \"late\" writes, [2, 6)"},
    {"Buffers", [](ModuleContents& m) { m.launches[1].bytes.pop_back(); },
     "launch 1: 1 buffer, but the kernel has 2"},
    {"Reads", [](ModuleContents& m) { m.launches[1].read_only = 3; },
     "launch 1: reads 3 buffers, but the kernel has 2"},
    {"FirstSlot", [](ModuleContents& m) { m.shape_functions[0].first_slot = 7; },
     "shape function 0: writes slots from 7 on, but has 6 slots"},
    {"FollowsItself", [](ModuleContents& m) { m.shape_functions[1].follows = 1; },
     "shape function 1: follows shape function 1, expected an earlier one"},
    {"FollowsNone", [](ModuleContents& m) { m.shape_functions[1].follows = -2; },
     "shape function 1: follows shape function -2, expected an earlier one"},
    {"Image",
     [](ModuleContents& m) {
       m.shape_functions.clear();
       m.functions[0].code.resize(m.functions[0].code.size() - 3);
       m.devices.push_back({"gpu", "opencl", 1});
       m.kernels = {{"k", 0, 0, 1}};
       m.launches = {{.kernel = 0}};
       m.images[0].devices = {1};
     },
     "module has launches but no image for the host, which contains their checksum"},
};

class BadLaunchTableTest : public testing::TestWithParam<Table> {};

TEST_P(BadLaunchTableTest, IsRejected) {
  ModuleContents module = launch_module("");
  EXPECT_EQ(error_of(module), "");
  GetParam().change(module);
  EXPECT_EQ(error_of(module), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(Each, BadLaunchTableTest, testing::ValuesIn(kTables),
                         [](const auto& info) { return std::string(info.param.name); });

// Everything that decides which bytes a kernel accesses is part of the checksum.
TEST(LaunchChecksum, DependsOnEveryPart) {
  const std::function<void(ModuleContents&)> changes[] = {
      [](ModuleContents& m) { m.launches[0].kernel = 1; },
      [](ModuleContents& m) { m.launches[0].params = {3}; },
      [](ModuleContents& m) { m.launches[0].grid = {7}; },
      [](ModuleContents& m) { m.launches[0].grain = {7}; },
      [](ModuleContents& m) { m.launches[0].bytes[1] = {7}; },
      [](ModuleContents& m) { m.launches[0].read_only = 2; },
      [](ModuleContents& m) { m.launches[0].shape_function = 1; },
      [](ModuleContents& m) { m.launches.pop_back(); },
      [](ModuleContents& m) { m.kernels[0].symbol = "l"; },
      [](ModuleContents& m) { m.kernels[0].buffer_count = 3; },
      [](ModuleContents& m) { m.kernels[0].param_count = 2; },
      [](ModuleContents& m) { m.kernels[0].device = 1; },
      [](ModuleContents& m) { m.devices[0].kind = "opencl"; },
      [](ModuleContents& m) { m.devices[0].workers = int64_t{1} << 33; },
      [](ModuleContents& m) { m.shape_functions[0].symbol = "late"; },
      [](ModuleContents& m) { m.shape_functions[0].slot_count = 7; },
      [](ModuleContents& m) { m.shape_functions[0].dim_count = 2; },
      [](ModuleContents& m) { m.shape_functions[0].first_slot = 1; },
      [](ModuleContents& m) { m.shape_functions[1].follows = -1; },
  };
  ModuleContents module = launch_module("");
  module.devices.push_back(module.devices[0]);
  const uint64_t sum = launch_checksum(module);
  EXPECT_EQ(launch_checksum(module), sum);
  for (size_t i = 0; i < std::size(changes); ++i) {
    ModuleContents changed = module;
    changes[i](changed);
    EXPECT_NE(launch_checksum(changed), sum) << i;
  }
}

}  // namespace
}  // namespace scopevm::format

// External functions that verify() rejects, and the launch checksum of external functions.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/vm/format/sample_modules.h"
#include "tests/vm/format/verify/error_of.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/launch_checksum.h"
#include "vm/format/verify/verify.h"

namespace scopevm::format {
namespace {

struct Change {
  const char* name;
  std::function<void(ModuleContents&)> change;
  const char* error;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

const Change kInvalid[] = {
    {"NoLibrary", [](ModuleContents& m) { m.kernels[0].external->library = ""; },
     "external function \"lib.add_0\": has no library"},
    {"Device",
     [](ModuleContents& m) {
       m.devices.push_back({"gpu", "opencl", 1});
       m.kernels[0].device = 1;
     },
     "external function \"lib.add_0\": is on device \"gpu\", expected a CPU"},
    {"UnknownDevice", [](ModuleContents& m) { m.kernels[0].device = 1; },
     "kernel 0: device 1 is out of range [0, 1)"},
    {"Strings", [](ModuleContents& m) { m.kernels[0].external->operands[1].dtype = DType::kStr; },
     "external function \"lib.add_0\": buffer 1: elements are strings, expected numbers"},
    {"ElementType",
     [](ModuleContents& m) { m.kernels[0].external->results[0].dtype = static_cast<DType>(99); },
     "external function \"lib.add_0\": buffer 2: element type 99 is out of range [0, 24)"},
    {"Rank", [](ModuleContents& m) { m.kernels[0].external->operands[0].rank = 17; },
     "external function \"lib.add_0\": buffer 0: rank is 17, the limit is 16"},
    {"FewBuffers", [](ModuleContents& m) { m.kernels[0].buffer_count = 2; },
     "external function \"lib.add_0\": has 2 buffers, expected 3 for its operands and results, or "
     "4 with a workspace"},
    {"ManyBuffers", [](ModuleContents& m) { m.kernels[0].buffer_count = 5; },
     "external function \"lib.add_0\": has 5 buffers, expected 3 for its operands and results, or "
     "4 with a workspace"},
    {"Params", [](ModuleContents& m) { m.kernels[0].param_count = 4; },
     "external function \"lib.add_0\": has 4 params, expected 5, the dims of its operands and "
     "results"},
    {"Reads", [](ModuleContents& m) { m.launches[0].read_only = 3; },
     "launch 0: reads 3 buffers, but the external function has 2 operands"},
    {"OperandType", [](ModuleContents& m) { m.functions[0].inputs[1].dtype = DType::kI32; },
     "main: word 30: call_extern: register 1 holds i32 of rank 1, expected f32 of rank 1 for "
     "operand 1"},
    {"ResultType", [](ModuleContents& m) { m.kernels[0].external->results[0].dtype = DType::kI8; },
     "main: word 30: call_extern: register 3 holds f32 of rank 2, expected i8 of rank 2 for "
     "result 0"},
    {"KernelOfAnImage", [](ModuleContents& m) { m.kernels[0].external.reset(); },
     "main: word 30: call_extern: \"lib.add_0\" is a kernel of an image, expected an external "
     "function"},
};

class BadExternalTest : public testing::TestWithParam<Change> {};

TEST_P(BadExternalTest, IsRejected) {
  ModuleContents module = external_module();
  GetParam().change(module);
  EXPECT_EQ(error_of(module), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(Each, BadExternalTest, testing::ValuesIn(kInvalid),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(External, ALaunchOfAnExternalFunctionIsRejected) {
  ModuleContents module = dense_module();
  module.kernels[0].external = {
      "lib", "", {{DType::kF32, 2}}, {{DType::kF32, 0}, {DType::kF32, 0}, {DType::kF32, 0}}};
  module.launches[0].read_only = 1;
  EXPECT_EQ(error_of(module),
            "main: word 32: launch: \"k_dense\" is an external function, expected a kernel of an "
            "image");
}

TEST(External, TheWorkspaceIsOptional) {
  ModuleContents module = external_module();
  module.kernels[0].buffer_count = 3;
  EXPECT_EQ(error_of(module), "launch 0: 4 buffers, but the kernel has 3");
  module.launches[0].bytes.pop_back();
  EXPECT_EQ(error_of(module), "main: word 30: call_extern: the number of buffers is 4, expected 3");
}

// The library computes with these fields, so all of them are part of the checksum.
TEST(External, IsPartOfTheLaunchChecksum) {
  const std::function<void(ModuleContents&)> changes[] = {
      [](ModuleContents& m) { m.kernels[0].external.reset(); },
      [](ModuleContents& m) { m.kernels[0].external->library = "bil"; },
      [](ModuleContents& m) { m.kernels[0].external->description += " "; },
      [](ModuleContents& m) { m.kernels[0].external->operands[0].dtype = DType::kI32; },
      [](ModuleContents& m) { m.kernels[0].external->operands[0].rank = 3; },
      [](ModuleContents& m) { m.kernels[0].external->operands.pop_back(); },
      [](ModuleContents& m) { m.kernels[0].external->results[0].rank = 1; },
  };
  const uint64_t sum = launch_checksum(external_module());
  for (size_t i = 0; i < std::size(changes); ++i) {
    ModuleContents changed = external_module();
    changes[i](changed);
    EXPECT_NE(launch_checksum(changed), sum) << i;
  }
}

TEST(External, AssemblyShowsTheDeclaration) {
  EXPECT_NE(
      disassemble(external_module())
          .find("kernel \"lib.add_0\" buffers 4 params 5 external \"lib\" operands [f32 2, f32 1] "
                "results [f32 2] description \"{\\\"operands\\\": []}\"\n"),
      std::string::npos);
}

}  // namespace
}  // namespace scopevm::format

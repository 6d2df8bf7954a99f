// Adds the device kind "toy" with the steps of docs/adding-a-device.md. No file outside this folder
// mentions "toy". Machine descriptions, device lists, placement, compilation and sessions must
// support its devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "compiler/pipeline/stages.h"
#include "runtime/drivers/built_in.h"
#include "scopevm/session.h"
#include "tests/codegen/third_kind/toy_backend.h"
#include "tests/codegen/third_kind/toy_driver.h"
#include "tests/temporary_file.h"
#include "tools/scopevm/commands/machine_description.h"
#include "vm/api/module_access.h"
#include "vm/run/call/bound_session.h"

namespace scopevm {
namespace {

using compiler::Machine;
using compiler::codegen::Backends;
using compiler::codegen::built_in_backends;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Backends& backends() {
  static const Backends all = [] {
    Backends extended = built_in_backends();
    extended.add(testing::toy_backend());
    return extended;
  }();
  return all;
}

const runtime::Drivers& drivers() {
  static const runtime::Drivers all = [] {
    runtime::Drivers extended = runtime::built_in_drivers();
    extended.add(testing::toy_driver());
    return extended;
  }();
  return all;
}

std::string machine_with(const std::string& device) {
  return R"({"devices": [{"name": "cpu", "kind": "cpu"}, )" + device + "]}";
}

std::string message_of(const std::string& device, const Backends& known) {
  const Result<Machine> machine = parse_machine(machine_with(device), "m.json", known.kinds());
  return machine.ok() ? "" : std::string(machine.status().message());
}

TEST(ThirdKind, EachKindOfTheCompilerHasADriver) {
  std::vector<std::string_view> compiler_kinds, runtime_kinds;
  for (const compiler::DeviceKind* kind : built_in_backends().kinds())
    compiler_kinds.push_back(kind->name());
  for (const runtime::DeviceDriver* driver : runtime::built_in_drivers().all())
    runtime_kinds.push_back(driver->kind());
  EXPECT_EQ(compiler_kinds, runtime_kinds);
  EXPECT_EQ(compiler_kinds.front(), format::kHostKind);
}

TEST(ThirdKind, UnknownKindErrorListsTheKnownKinds) {
  const char* const toy = R"({"name": "a", "kind": "toy"})";
  const char* const other = R"({"name": "a", "kind": "game"})";
  EXPECT_EQ(message_of(toy, built_in_backends()),
            "m.json: devices[1].kind: expected \"cpu\" or \"opencl\", found \"toy\"");
  EXPECT_EQ(message_of(other, backends()),
            "m.json: devices[1].kind: expected \"cpu\", \"opencl\" or \"toy\", found \"game\"");
  EXPECT_EQ(message_of(toy, backends()), "");
  EXPECT_EQ(runtime::built_in_drivers().open("toy", 0).status().message(),
            "unsupported kind \"toy\"; this build supports cpu, opencl");
  EXPECT_EQ(drivers().open("game", 0).status().message(),
            "unsupported kind \"game\"; this build supports cpu, opencl, toy");
}

TEST(ThirdKind, MembersOfAnotherKindAreRejected) {
  EXPECT_EQ(message_of(R"({"name": "a", "kind": "toy", "generation": 2})", backends()), "");
  EXPECT_EQ(message_of(R"({"name": "a", "kind": "toy", "generation": 3})", backends()),
            "m.json: devices[1].generation: at most 2");
  EXPECT_EQ(message_of(R"({"name": "a", "kind": "opencl", "generation": 2})", backends()),
            "m.json: devices[1].generation: not a member of a device of kind opencl");
  EXPECT_EQ(message_of(R"({"name": "a", "kind": "toy", "target_cpu": "x86-64"})", backends()),
            "m.json: devices[1].target_cpu: not a member of a device of kind toy");
  EXPECT_EQ(message_of(R"({"name": "a", "kind": "toy", "colour": 1})", backends()),
            "m.json: devices[1].colour: unknown member; expected one of name, kind, workers, "
            "max_stack_bytes, alignment, rank, target_cpu, features, generation");
}

TEST(ThirdKind, DevicesAreListedAsADescription) {
  std::FILE* const log = std::tmpfile();
  const std::string description = tool::describe_machine(drivers(), log);
  std::rewind(log);
  std::string lines(1 << 16, '\0');
  lines.resize(std::fread(lines.data(), 1, lines.size(), log));
  std::fclose(log);
  EXPECT_THAT(lines, HasSubstr("toy0: Toy (1 unit), 1.1 GB\n"));
  const Result<Machine> machine = parse_machine(description, "m.json", backends().kinds());
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  const std::optional<compiler::DeviceIndex> toy = machine->find_device("toy0");
  ASSERT_TRUE(toy.has_value());
  EXPECT_EQ(machine->devices[*toy].kind, "toy");
  EXPECT_EQ(machine->devices[*toy].workers, 1);
  EXPECT_EQ(machine->pools[machine->workspace_pool(*toy)].limit, 1 << 30);
}

// y = (x * x + x) / 2. The last step runs on the host.
constexpr char kGraph[] = R"mlir(
func.func @main(%x: !sv.tensor<f32[n, 3]> {sv.name = "x"}) -> (!sv.tensor<f32[n, 3]> {sv.name = "y"}) {
  %h = sv.constant {value = dense<0.5> : tensor<f32>} : !sv.tensor<f32[]>
  %0 = sv.mul %x, %x : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]> loc("square")
  %1 = sv.add %0, %x : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[n, 3]>) -> !sv.tensor<f32[n, 3]> loc("sum")
  %2 = sv.mul %1, %h : (!sv.tensor<f32[n, 3]>, !sv.tensor<f32[]>) -> !sv.tensor<f32[n, 3]> loc("half")
  return %2 : !sv.tensor<f32[n, 3]>
}
)mlir";

class CompiledForToys : public ::testing::Test {
 protected:
  Result<Module> compile(const std::string& device, std::vector<std::string> places = {"s*=toy"}) {
    const TemporaryFile graph(kGraph);
    CompileOptions options;
    options.model_path = graph.path();
    options.machine_json = machine_with(device);
    options.machine_name = "m.json";
    options.places = std::move(places);
    compiler::pipeline::Context context(options, backends());
    SCOPEVM_ASSIGN_OR_RETURN(const compiler::pipeline::Compiled compiled,
                             compiler::pipeline::compile_model(context));
    return Module::load_bytes(compiled.output.module);
  }

  static Result<Session> make_session(const Module& module, const runtime::Drivers& known) {
    auto opener = [&](const std::string& kind, int number) { return known.open(kind, number); };
    SCOPEVM_ASSIGN_OR_RETURN(auto bound,
                             vm::BoundSession::create(ModuleAccess::loaded(module), {}, opener));
    return SessionAccess::make(std::move(bound));
  }
};

std::vector<std::string> images_of(const Module& module) {
  std::vector<std::string> names;
  const format::ModuleContents& contents = ModuleAccess::loaded(module)->contents();
  for (const format::ImageDecl& image : contents.images) {
    const format::DeviceDecl& device = contents.devices[image.devices.front()];
    names.push_back(device.kind + ":" + (device.is_host() ? "" : image.target_cpu));
  }
  return names;
}

TEST_F(CompiledForToys, RunsOnTheToyDevice) {
  const Result<Module> module = compile(R"({"name": "toy", "kind": "toy", "generation": 2})");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_THAT(images_of(*module), ElementsAre("cpu:", "toy:toy2"));
  Result<Session> session = make_session(*module, drivers());
  ASSERT_TRUE(session.ok()) << session.status().message();
  const Tensor x = *Tensor::allocate(DType::kF32, {50, 3});
  const std::span<float> given = x.elements<float>();
  std::iota(given.begin(), given.end(), -70.0F);
  const int64_t before = testing::toy_launches();
  const Result<std::vector<Tensor>> results = session->call(std::vector{x});
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ(testing::toy_launches() - before, 1);
  const std::span<float> y = results->front().elements<float>();
  for (size_t i = 0; i < given.size(); ++i)
    EXPECT_EQ(y[i], (given[i] * given[i] + given[i]) / 2) << i;
}

TEST_F(CompiledForToys, SessionRequiresADriverOfTheKind) {
  const Result<Module> module = compile(R"({"name": "toy", "kind": "toy"})");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(make_session(*module, runtime::built_in_drivers()).status().message(),
            "device \"toy\": unsupported kind \"toy\"; this build supports cpu, opencl");
}

// Devices of one kind with different targets have separate images.
TEST_F(CompiledForToys, HasAnImageForEachTarget) {
  const Result<Module> module =
      compile(R"({"name": "toy", "kind": "toy"}, {"name": "b", "kind": "toy", "generation": 2})",
              {"square=toy", "sum=b"});
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_THAT(images_of(*module), ElementsAre("cpu:", "toy:toy1", "toy:toy2"));
}

}  // namespace
}  // namespace scopevm

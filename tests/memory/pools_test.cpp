// Assignment of buffers to pools: alignment, pinned memory, unused devices.
#include <gtest/gtest.h>

#include "compiler/memory/plan.h"
#include "compiler/program/transform/pinned.h"
#include "compiler/program/transform/unused.h"
#include "tests/machine/stand_in_kinds.h"
#include "tests/memory/random_functions.h"

namespace scopevm::compiler::memory {
namespace {

// A machine with the devices "cpu", "idle" and "gpu", and these pools.
Machine machine_with(const std::string& pools) {
  const std::string json = R"({"devices": [{"name": "cpu", "kind": "cpu"},
      {"name": "idle", "kind": "opencl"},
      {"name": "gpu", "kind": "opencl", "alignment": 256}], "pools": [)" +
                           pools + "]}";
  Result<Machine> machine = parse_machine(json, "machine", testing::stand_in_kinds());
  EXPECT_TRUE(machine.ok()) << machine.status().message();
  return *std::move(machine);
}

const char* const kPinned =
    R"({"device": "cpu", "scope": "global.pinned", "pinned_for": "gpu"},
       {"device": "cpu", "scope": "global.own"})";

constexpr DeviceIndex kFirst{0};

// A program with these steps:
//   a = f(x)     on the CPU, where x is the input
//   b = copy(a)  to the device "gpu"
//   c = g(b)     on "gpu"
//   d = copy(c)  to the CPU
//   y = h(d)     on the CPU, where y is the result
struct Fixture {
  Program program;
  ValueId a, b, c, d;

  explicit Fixture(Machine machine, DimExpr size = DimExpr::symbol("n")) {
    program.machine = std::move(machine);
    const DeviceIndex gpu = *program.machine.find_device("gpu");
    program.kernels = {Kernel{"on_cpu", 2, 0, kFirst}, Kernel{"on_gpu", 2, 0, gpu}};
    Function f;
    f.dimensions = {{"n", 1, 1000, 1, 10}};
    const ValueId x = add_input(f, {size});
    a = add_step(f, {x}, {size});
    b = add_copy(f, a, size);
    c = add_step(f, {b}, {size});
    launch(f.steps.back()).kernel = {1};
    d = add_copy(f, c, size);
    add_output(f, add_step(f, {d}, {size}));
    for (Value& value : f.values) value.place = {kFirst, program.machine.workspace_pool(kFirst)};
    for (ValueId id : {b, c}) f.values[id].place = {gpu, program.machine.workspace_pool(gpu)};
    program.functions.push_back(std::move(f));
  }

  static ValueId add_copy(Function& f, ValueId from, DimExpr size) {
    const ValueId made = add_step(f, {from}, {size});
    f.steps.back().work = step::Copy();
    return made;
  }

  Function& main() { return program.functions.front(); }
  std::string pool_of(ValueId id) {
    return program.machine.pool_name(main().values[id].place.pool);
  }
};

TEST(Pinned, TakesBuffersThatAreCopied) {
  Fixture f(machine_with(kPinned));
  transform::use_pinned(f.program);
  EXPECT_EQ(f.pool_of(f.a), "cpu.global.pinned");
  EXPECT_EQ(f.pool_of(f.b), "gpu.global.workspace");
  EXPECT_EQ(f.pool_of(f.c), "gpu.global.workspace");
  EXPECT_EQ(f.pool_of(f.d), "cpu.global.pinned");
  EXPECT_EQ(f.pool_of(f.main().inputs[0]), "cpu.global.workspace")
      << "callers' tensors are not pinned";
  EXPECT_EQ(f.pool_of(f.main().outputs[0]), "cpu.global.workspace")
      << "callers' tensors are not pinned";
}

TEST(Pinned, NothingMovesWithoutAPinnedPool) {
  Fixture f(machine_with(""));
  transform::use_pinned(f.program);
  EXPECT_EQ(f.pool_of(f.a), "cpu.global.workspace");
  EXPECT_EQ(f.pool_of(f.d), "cpu.global.workspace");
}

TEST(Pinned, ConstrainedBuffersStay) {
  Fixture f(machine_with(kPinned));
  f.main().values[f.a].is_scope_required = true;
  f.main().values[f.d].place.pool = *f.program.machine.find_pool(kFirst, "global.own");
  transform::use_pinned(f.program);
  EXPECT_EQ(f.pool_of(f.a), "cpu.global.workspace");
  EXPECT_EQ(f.pool_of(f.d), "cpu.global.own");
}

// Values with their own storage and values passed to callees do not move to pinned memory.
TEST(Pinned, ReferencedBuffersStay) {
  Fixture f(machine_with(kPinned));
  f.main().steps.back().work = step::Call{FunctionIndex{0}};
  f.main().values[f.a].storage = ValueStorage::kOwn;
  transform::use_pinned(f.program);
  EXPECT_EQ(f.pool_of(f.a), "cpu.global.workspace");
  EXPECT_EQ(f.pool_of(f.d), "cpu.global.workspace");
}

// A pinned pool is used only for values whose kernels all reach it.
TEST(Pinned, EveryKernelReachesThePool) {
  Fixture f(*parse_machine(R"({"devices": [{"name": "npu", "kind": "cpu"},
      {"name": "gpu", "kind": "opencl"}, {"name": "cpu", "kind": "cpu"}],
      "pools": [{"device": "npu", "scope": "global", "reached_by": ["cpu"]},
                {"device": "npu", "scope": "global.pinned", "pinned_for": "gpu"}]})",
                           "machine", testing::stand_in_kinds()));
  f.program.kernels.push_back({"on_other", 2, 0, DeviceIndex{2}});
  launch(f.main().steps[0]).kernel = {2};  // computes a
  transform::use_pinned(f.program);
  EXPECT_EQ(f.pool_of(f.a), "npu.global.workspace");
  EXPECT_EQ(f.pool_of(f.d), "npu.global.pinned");
}

TEST(Alignment, OffsetsAndSizesAreMultiplesOfThePoolsAlignment) {
  const DimExpr n = DimExpr::symbol("n");
  Fixture f(machine_with(kPinned), n);
  Result<ShapeProgram> shapes = ShapeProgram::create(f.main());
  ASSERT_TRUE(shapes.ok());
  Result<Plan> made = make_plan(f.program.machine, f.main(), *shapes);
  ASSERT_TRUE(made.ok()) << made.status().message();
  ASSERT_EQ(made->arenas.size(), 2u);
  for (const Arena& arena : made->arenas) {
    const Pool& pool = f.program.machine.pools[arena.pool];
    EXPECT_EQ(pool.alignment, pool.device == kFirst ? 64 : 256);
    const auto placed = made->at(f.program.machine, arena, *shapes, {{"n", 17}}, 1);
    ASSERT_TRUE(placed);
    for (const plan::Buffer& buffer : placed->problem.buffers)
      EXPECT_EQ(buffer.size, pool.device == kFirst ? 128 : 256);
    for (const int64_t offset : placed->plan.offsets) EXPECT_EQ(offset % pool.alignment, 0);
    EXPECT_EQ((*shapes->evaluate({{"n", 17}}, 1))[arena.height], pool.device == kFirst ? 128 : 512);
  }
}

TEST(UnusedDevices, AreRemoved) {
  Fixture f(machine_with(kPinned));
  transform::use_pinned(f.program);
  const Machine before = f.program.machine;
  const DeviceIndex gpu = *before.find_device("gpu");
  f.program.constants.push_back({.pool = before.constant_pool(gpu)});
  launch(f.main().steps[2]).temporaries.push_back({64, false, before.workspace_pool(gpu)});
  f.main().stacks = {*before.stack_pool(kFirst)};
  transform::remove_unused_devices(f.program);
  const Machine& machine = f.program.machine;
  EXPECT_EQ(machine.devices.size(), 2u);
  EXPECT_EQ(machine.find_device("idle"), std::nullopt);
  EXPECT_EQ(f.pool_of(f.a), "cpu.global.pinned");
  EXPECT_EQ(f.pool_of(f.c), "gpu.global.workspace");
  for (const Value& value : f.main().values)
    EXPECT_EQ(machine.pools[value.place.pool].device, value.place.device) << value.name;
  EXPECT_EQ(f.program.kernels[{1}].device, *machine.find_device("gpu"));
  EXPECT_NE(f.program.kernels[{1}].device, gpu);
  EXPECT_EQ(machine.devices[f.program.kernels[{1}].device].number, 1)
      << "the number of the device in the machine description";
  EXPECT_EQ(machine.pool_name(f.program.constants.front().pool), "gpu.global.constant");
  EXPECT_EQ(machine.pool_name(launch(f.main().steps[2]).temporaries[0].pool),
            "gpu.global.workspace");
  EXPECT_EQ(machine.pool_name(f.main().stacks[0]), "cpu.global.stack");
}

// A device is in use if it has a kernel, or its pools store a value, a constant or scratch memory.
TEST(UnusedDevices, DevicesInUseAreKept) {
  for (int keeper = 0; keeper < 4; ++keeper) {
    Fixture f(machine_with(""));
    const Machine& machine = f.program.machine;
    const DeviceIndex idle = *machine.find_device("idle");
    if (keeper == 0)
      f.main().values[f.a].place = {kFirst, machine.workspace_pool(idle)};
    else if (keeper == 1)
      f.program.constants.push_back({.pool = machine.constant_pool(idle)});
    else if (keeper == 2)
      launch(f.main().steps[0]).temporaries.push_back({64, false, machine.workspace_pool(idle)});
    else
      f.program.kernels.push_back({"on_idle", 0, 0, idle});
    transform::remove_unused_devices(f.program);
    EXPECT_TRUE(f.program.machine.find_device("idle").has_value()) << keeper;
  }
}

}  // namespace
}  // namespace scopevm::compiler::memory

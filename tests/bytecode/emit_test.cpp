// Compiles hand-written programs with the shapes, memory and bytecode stages. Checks the module
// contents, which the verifier must accept.
#include "compiler/bytecode/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scopevm/kernel_abi.h"
#include "tests/dims/formula_value.h"
#include "tests/memory/random_functions.h"
#include "vm/format/assembly/disassembler.h"
#include "vm/format/binary/writer.h"
#include "vm/format/verify/verify.h"
#include "vm/isa/instruction.h"

namespace scopevm::compiler::bytecode {
namespace {

using ::testing::ElementsAre;

const DimExpr n = DimExpr::symbol("n");

Program program_of(Function function) {
  Program program;
  program.machine = Machine::host();
  for (Value& value : function.values)
    value.place.pool = value.origin == ValueOrigin::kConstant ? program.machine.constant_pool({0})
                                                              : program.machine.workspace_pool({0});
  // One kernel per step, with the parameter and buffer counts of the step.
  for (size_t i = 0; i < function.steps.size(); ++i) {
    Step& step = function.steps[i];
    auto* launch = step.as<step::Launch>();
    if (!launch) continue;
    launch->kernel = program.kernels.next_index();
    for (Temporary& temporary : launch->temporaries)
      temporary.pool = program.machine.workspace_pool({0});
    program.kernels.push_back(
        {"k" + std::to_string(i),
         static_cast<int>(step.operands.size() + step.results.size() + launch->temporaries.size()),
         static_cast<int>(launch->params.size())});
  }
  program.functions.push_back(std::move(function));
  return program;
}

struct Emitted {
  PlannedFunctions planned;
  format::ModuleContents module;
  const format::FunctionDecl& main() const { return module.functions[0]; }

  std::vector<std::string> opcodes() const {
    std::vector<std::string> names;
    for (uint32_t at = 0; at < main().code.size(); at += isa::word_count(main().code[at]))
      names.emplace_back(isa::name(isa::opcode(main().code[at])));
    return names;
  }
  std::string text() const { return format::disassemble(module, {.elide_data = true}); }
  // The value of a slot for the given dims.
  int64_t slot(uint32_t index, const std::map<std::string, int64_t>& symbols,
               int64_t threads) const {
    const ShapeProgram& shapes = planned.front().shapes;
    return (*shapes.evaluate(symbols, threads))[*shapes.stores()[{index}]];
  }
};

Emitted emit(const Program& program) {
  Emitted emitted;
  for (const Function& function : program.functions) {
    Result<ShapeProgram> shapes = ShapeProgram::create(function);
    EXPECT_TRUE(shapes.ok()) << shapes.status().message();
    Result<memory::Plan> plan = memory::make_plan(program.machine, function, *shapes);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    emitted.planned.push_back({*std::move(shapes), *std::move(plan)});
  }
  Result<format::ModuleContents> module = emit_module(program, emitted.planned);
  EXPECT_TRUE(module.ok()) << module.status().message();
  emitted.module = *std::move(module);
  auto elf = std::make_shared<std::vector<uint8_t>>(64);
  emitted.module.images.push_back({{0}, "any", {}, {elf, elf->data(), elf->size()}});
  Status status = format::verify(emitted.module);
  EXPECT_TRUE(status.ok()) << status.message() << "\n" << emitted.text();
  return emitted;
}

// Three launches, y = f2(f1(f0(x))). The second launch has 256 bytes of scratch per worker.
Function three_steps() {
  Function f;
  f.dimensions = {{"n", 1, 512, 1, 64}};
  ValueId x = memory::add_input(f, {n, 16});
  ValueId a = memory::add_step(f, {x}, {n, 16});
  ValueId b = memory::add_step(f, {a}, {n, 32});
  memory::launch(f.steps.back()).temporaries = {{256, true, {}}};
  memory::add_output(f, memory::add_step(f, {b}, {n}));
  for (Step& step : f.steps) {
    step::Launch& launch = memory::launch(step);
    launch.params = {n, 16, n * 16};
    launch.grid = n;
    launch.grain = 4;
  }
  return f;
}

TEST(Bytecode, OneWorkspaceOneStoragePerResult) {
  EXPECT_THAT(
      emit(program_of(three_steps())).opcodes(),
      ElementsAre("shape_function", "alloc_storage", "alloc_tensor", "launch", "alloc_tensor",
                  "alloc_tensor", "launch", "alloc_storage", "alloc_tensor", "launch", "ret"));
}

TEST(Bytecode, MemoryFormulasMatchTheProgram) {
  Emitted e = emit(program_of(three_steps()));
  ASSERT_EQ(e.main().memory.size(), 2u);
  const format::MemoryDecl& workspace = e.main().memory[0];
  EXPECT_EQ(workspace.what, "workspace");
  EXPECT_EQ(workspace.pool, 1u);
  EXPECT_EQ(workspace.formula, "256*$threads + 192*n");
  EXPECT_EQ(e.slot(workspace.bytes_slot, {{"n", 10}}, 3), 768 + 1920);
  EXPECT_EQ(e.slot(workspace.lower_bound_slot, {{"n", 10}}, 3), 768 + 1920);
  const format::MemoryDecl& result = e.main().memory[1];
  EXPECT_EQ(result.what, "out0");
  EXPECT_TRUE(result.is_result);
  EXPECT_EQ(result.formula, "4*n");
  EXPECT_EQ(e.slot(result.bytes_slot, {{"n", 10}}, 3), 40);
}

TEST(Bytecode, EqualParameterListsShareOneBlockOfSlots) {
  Emitted e = emit(program_of(three_steps()));
  std::vector<uint32_t> blocks;
  for (const format::LaunchDecl& launch : e.module.launches) blocks.push_back(launch.params.value);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0], blocks[1]);
  EXPECT_EQ(blocks[1], blocks[2]);
  EXPECT_EQ(e.slot(blocks[0], {{"n", 10}}, 1), 10);
  EXPECT_EQ(e.slot(blocks[0] + 1, {{"n", 10}}, 1), 16);
  EXPECT_EQ(e.slot(blocks[0] + 2, {{"n", 10}}, 1), 160);
}

TEST(Bytecode, SourcesNameTheLaunches) {
  Emitted e = emit(program_of(three_steps()));
  ASSERT_EQ(e.main().sources.size(), 3u);
  EXPECT_EQ(e.main().sources[0].name, "s1");
  for (const format::SourceDecl& source : e.main().sources)
    EXPECT_EQ(isa::opcode(e.main().code[source.word]), isa::Opcode::launch);
}

TEST(Bytecode, SignatureAndChecks) {
  Emitted e = emit(program_of(three_steps()));
  EXPECT_THAT(e.main().inputs[0].dims, ElementsAre("n", "16"));
  EXPECT_THAT(e.main().outputs[0].dims, ElementsAre("n"));
  EXPECT_EQ(e.main().dimensions[0].max, 512);
  const format::ShapeFunctionDecl& shapes = e.module.shape_functions[0];
  EXPECT_EQ(shapes.symbol, "shape_main");
  EXPECT_EQ(shapes.dim_count, 2u);
  EXPECT_EQ(shapes.checks.front().message, "input \"in0\" dim 1 is {0}, expected {1}");
  EXPECT_EQ(shapes.checks.back().message, kOverflowMessage);
  EXPECT_EQ(shapes.slot_count, e.main().slot_count);
}

TEST(Bytecode, RegistersAreReused) {
  Function f;
  f.dimensions = {{"n", 1, 512, 1, 64}};
  ValueId x = memory::add_input(f, {n});
  for (int i = 0; i < 50; ++i) x = memory::add_step(f, {x}, {n, 8});
  memory::add_output(f, x);
  EXPECT_LE(emit(program_of(f)).main().register_count, 8u);
}

TEST(Bytecode, NoWorkspaceWithoutPlannedBuffers) {
  Function f;
  memory::add_output(f, memory::add_step(f, {memory::add_input(f, {4})}, {4}));
  Emitted e = emit(program_of(f));
  EXPECT_THAT(e.opcodes(),
              ElementsAre("shape_function", "alloc_storage", "alloc_tensor", "launch", "ret"));
  EXPECT_EQ(e.main().memory.size(), 1u);
}

TEST(Bytecode, EmptyTensorsHaveAWorkspace) {
  Function f;
  ValueId a = memory::add_step(f, {memory::add_input(f, {4})}, {0, 4});
  memory::add_output(f, memory::add_step(f, {a}, {4}));
  EXPECT_THAT(emit(program_of(f)).opcodes(), testing::Contains("alloc_storage").Times(2));
}

TEST(Bytecode, ViewThatIsAResultIsCreatedAtTheEnd) {
  Function f;
  f.dimensions = {{"n", 1, 512, 1, 64}};
  ValueId a = memory::add_step(f, {memory::add_input(f, {n})}, {n, 6});
  memory::add_output(f, memory::add_view(f, a, {2, 3, n}));
  Emitted e = emit(program_of(f));
  EXPECT_THAT(e.opcodes(), ElementsAre("shape_function", "alloc_storage", "alloc_tensor", "launch",
                                       "alloc_view", "ret"));
  EXPECT_THAT(e.main().outputs[0].dims, ElementsAre("2", "3", "n"));
}

TEST(Bytecode, CopiesAreDeviceCopies) {
  Function f;
  ValueId x = memory::add_input(f, {4});
  memory::add_output(f, memory::add_step(f, {x}, {4}));
  f.steps[0].work = step::Copy();
  EXPECT_THAT(emit(program_of(f)).opcodes(),
              ElementsAre("shape_function", "alloc_storage", "alloc_tensor", "device_copy", "ret"));
}

TEST(Bytecode, ConstantsAreLoadedOnceAtTheirFirstUse) {
  Function f;
  ValueId x = memory::add_input(f, {4});
  f.values.push_back(
      {.name = "w", .shape = {4}, .origin = ValueOrigin::kConstant, .constant = ConstantIndex{0}});
  ValueId a = memory::add_step(f, {x, {1}}, {4});
  memory::add_output(f, memory::add_step(f, {a, {1}}, {4}));
  Program program = program_of(f);
  auto bytes = std::make_shared<std::vector<uint8_t>>(16);
  program.constants.push_back({DType::kF32, {4}, PoolIndex{2}, "w", bytes, bytes->data(), 16});
  Emitted e = emit(program);
  EXPECT_THAT(e.opcodes(), testing::Contains("load_const").Times(1));
  EXPECT_EQ(e.module.constants[0].name, "w");
  EXPECT_EQ(e.module.constants[0].pool, 2u);
}

// The value of a printed formula is the value of the slot that the formula describes.
TEST(Bytecode, PrintedFormulasHaveTheValuesOfTheirSlots) {
  size_t most_definitions = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Emitted e = emit(program_of(memory::random_function(seed, 5 + static_cast<int>(seed) * 2)));
    most_definitions = std::max(most_definitions, e.main().definitions.size());
    for (const format::MemoryDecl& line : e.main().memory)
      for (int64_t dim : {1, 2, 17, 63, 500})
        for (int64_t threads : {1, 4}) {
          const std::map<std::string, int64_t> symbols = {{"n", dim}, {"m", 3 * dim + 1}};
          EXPECT_EQ(formula_value(e.main().definitions, line.formula, symbols, threads),
                    e.slot(line.bytes_slot, symbols, threads))
              << e.text();
        }
  }
  EXPECT_GT(most_definitions, 0u);
}

TEST(Bytecode, RandomProgramsVerify) {
  for (uint32_t seed = 0; seed < 60; ++seed)
    emit(program_of(memory::random_function(seed, 5 + static_cast<int>(seed))));
}

TEST(Bytecode, EqualProgramsHaveEqualBytes) {
  Program program = program_of(memory::random_function(9, 60));
  EXPECT_EQ(format::write_module(emit(program).module), format::write_module(emit(program).module));
}

}  // namespace
}  // namespace scopevm::compiler::bytecode

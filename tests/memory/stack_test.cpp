// use_stacks: the values it allocates in frames, those it does not, and the errors it reports.
#include <gtest/gtest.h>

#include "compiler/memory/plan.h"
#include "compiler/program/transform/stack.h"
#include "tests/memory/random_functions.h"

namespace scopevm::compiler::memory {
namespace {

constexpr PoolIndex kWorkspace{1}, kStack{3};  // of Machine::host()

Program stacked_program(Function main, int64_t stack = Machine::kStackBytes) {
  Program program{.machine = Machine::host()};
  program.machine.pools[kStack].limit = stack;
  for (Value& value : main.values) value.place.pool = kWorkspace;
  for (Step& step : main.steps)
    for (Temporary& temporary : step.temporaries()) temporary.pool = kWorkspace;
  program.functions.push_back(std::move(main));
  return program;
}

void add_function(Program& program, Function function) {
  Program other = stacked_program(std::move(function));
  program.functions.push_back(std::move(other.functions.front()));
}

std::string error_of(Program& program) {
  Status status = transform::use_stacks(program);
  return std::string(status.message());
}

// A chain of three steps with two intermediate values of `floats` elements each.
Function chain(DimExpr floats) {
  Function f;
  f.dimensions = {{"n", 1, 100, 1, 10}};
  ValueId x = add_input(f, {DimExpr::symbol("n")});
  for (int i = 0; i < 2; ++i) x = add_step(f, {x}, {floats});
  add_output(f, add_step(f, {x}, {4}));
  return f;
}

bool uses_stack(const Program& program, FunctionIndex function = {}) {
  return !program.functions[function].stacks.empty();
}

// The bytes of the frame in the function's plan; 0 if nothing is stored in the frame.
int64_t height_in_frame(const Program& program, FunctionIndex function = {}) {
  Result<ShapeProgram> shapes = ShapeProgram::create(program.functions[function]);
  Result<Plan> made = make_plan(program.machine, program.functions[function], *shapes);
  EXPECT_TRUE(made.ok()) << made.status().message();
  int64_t height = 0;
  for (const Arena& arena : made->arenas)
    if (arena.pool == kStack) {
      EXPECT_EQ(arena.segment, SegmentIndex{0});
      const std::optional<int64_t> known = shapes->constant_of(arena.height);
      EXPECT_TRUE(known.has_value()) << "a frame's size is a constant";
      height = known.value_or(-1);
    }
  return height;
}

TEST(Stack, TakesAWorkspaceThatFits) {
  Program program = stacked_program(chain(16));
  EXPECT_EQ(error_of(program), "");
  EXPECT_EQ(program.functions[{0}].values[{1}].place.pool, kStack);
  EXPECT_EQ(program.functions[{0}].values[{0}].place.pool, kWorkspace) << "an input";
  EXPECT_EQ(program.functions[{0}].values[{3}].place.pool, kWorkspace) << "a result";
  EXPECT_EQ(height_in_frame(program), 128);
}

TEST(Stack, LimitAppliesToTheFrame) {
  for (auto [limit, fits] : {std::pair(128, true), std::pair(127, false), std::pair(0, false)}) {
    Program program = stacked_program(chain(16), limit);
    EXPECT_EQ(error_of(program), "");
    EXPECT_EQ(uses_stack(program), fits) << limit;
    EXPECT_EQ(height_in_frame(program), fits ? 128 : 0);
  }
}

TEST(Stack, FrameHasItsOwnAlignment) {
  Program program = stacked_program(chain(16), 128);
  for (PoolIndex pool : {PoolIndex{0}, kWorkspace}) program.machine.pools[pool].alignment = 4096;
  EXPECT_EQ(error_of(program), "");
  EXPECT_EQ(height_in_frame(program), 128);
}

TEST(Stack, ThousandTemporariesStayWithinTheLimit) {
  // The values of a chain share bytes. In the second function, all values are live until the last
  // step. Each is small, but together they exceed the limit.
  Function line, fan;
  ValueId x = add_input(line, {4});
  for (int i = 0; i < 1000; ++i) x = add_step(line, {x}, {16 + i % 7});
  add_output(line, x);
  std::vector<ValueId> all = {add_input(fan, {4})};
  for (int i = 0; i < 1000; ++i) all.push_back(add_step(fan, {{0}}, {16 + i % 7}));
  add_output(fan, add_step(fan, all, {4}));
  Program program = stacked_program(std::move(line));
  add_function(program, std::move(fan));
  EXPECT_EQ(error_of(program), "");
  EXPECT_GT(height_in_frame(program), 0);
  EXPECT_LT(height_in_frame(program), 512);
  EXPECT_EQ(height_in_frame(program, {1}), 0);
  EXPECT_FALSE(uses_stack(program, {1}));
}

TEST(Stack, LargeBufferKeepsAllInTheWorkspace) {
  Function f = chain(16);
  launch(f.steps[0]).temporaries = {{Machine::kStackBytes + 1, false, {}}};
  Program program = stacked_program(std::move(f));
  EXPECT_EQ(error_of(program), "");
  EXPECT_FALSE(uses_stack(program));
}

TEST(Stack, DynamicSizesCountWithTheirMaximum) {
  const DimExpr bounded = DimExpr::symbol("n", {1, 100, 1}), open = DimExpr::symbol("n");
  Program program = stacked_program(chain(bounded));
  EXPECT_EQ(error_of(program), "");
  EXPECT_EQ(height_in_frame(program), 2 * 448);
  program = stacked_program(chain(open));
  EXPECT_EQ(error_of(program), "");
  EXPECT_FALSE(uses_stack(program));
}

TEST(Stack, ScratchPerWorkerIsUnbounded) {
  Function f = chain(16);
  launch(f.steps[0]).temporaries = {{100, true, {}}};
  launch(f.steps[0]).grid = 2;
  Program program = stacked_program(f);
  EXPECT_EQ(error_of(program), "");
  EXPECT_FALSE(uses_stack(program));
  launch(f.steps[0]).grain = 2;  // never split
  program = stacked_program(f);
  EXPECT_EQ(error_of(program), "");
  EXPECT_EQ(program.functions[{0}].steps[0].temporaries()[0].pool, kStack);
  EXPECT_EQ(height_in_frame(program), 192);
}

TEST(Stack, ConstrainedBuffersStay) {
  Function f = chain(16);
  f.values[{1}].is_scope_required = true;
  Program program = stacked_program(std::move(f));
  EXPECT_EQ(error_of(program), "");
  EXPECT_FALSE(uses_stack(program));
}

TEST(Stack, ReferencedBuffersStay) {
  const std::vector<decltype(Step::work)> kinds = {
      step::MakeList(), step::MakeClosure(), step::CallClosure(), step::Move(), step::ListInsert()};
  for (const auto& kind : kinds) {
    Function f = chain(16);
    f.steps.push_back({.operands = {{2}}, .work = kind});
    Program program = stacked_program(std::move(f));
    EXPECT_EQ(error_of(program), "");
    EXPECT_FALSE(uses_stack(program));
  }
}

TEST(Stack, SwapPartnersShareAPool) {
  Function f = chain(16);
  f.values[{1}].swap_partner = ValueId{2};
  Program program = stacked_program(f);
  EXPECT_EQ(error_of(program), "");
  EXPECT_TRUE(uses_stack(program));
  f.values[{2}].storage = ValueStorage::kOwn;
  program = stacked_program(f);
  EXPECT_EQ(error_of(program), "");
  EXPECT_FALSE(uses_stack(program));
}

// --- Calls. -------------------------------------------------------------------------------------

// A program in which main calls `callee` with main's first intermediate value.
Program calling(Function callee) {
  Function main = chain(16);
  main.steps.insert(main.steps.begin() + 1,
                    {.operands = {{1}}, .work = step::Call{FunctionIndex{1}}});
  Program program = stacked_program(std::move(main));
  callee.name = "f";
  callee.is_entry = false;
  add_function(program, std::move(callee));
  return program;
}

// A function that returns a value computed from its parameter.
Function reading() {
  Function f;
  add_output(f, add_step(f, {add_input(f, {16})}, {4}));
  return f;
}

TEST(Stack, ParametersDeclareThatTheyMayBeInAFrame) {
  Program program = calling(reading());
  EXPECT_EQ(error_of(program), "");
  EXPECT_TRUE(uses_stack(program));
  EXPECT_EQ(program.functions[{1}].values[{0}].place.pool, kStack);
  EXPECT_EQ(height_in_frame(program, {1}), 0);
}

TEST(Stack, ReturnedArgumentsStay) {
  Function identity;
  add_input(identity, {16});
  add_output(identity, add_view(identity, {0}, {4, 4}));
  Program program = calling(identity);
  EXPECT_EQ(error_of(program), "");
  EXPECT_FALSE(uses_stack(program));
  EXPECT_EQ(program.functions[{1}].values[{0}].place.pool, kWorkspace);
}

TEST(Stack, ForwardedArguments) {
  // f passes its parameter to g, which only reads it or also returns it.
  for (const bool is_returned : {false, true}) {
    Function f;
    add_input(f, {16});
    f.steps.push_back({.operands = {{0}}, .work = step::Call{FunctionIndex{2}}});
    add_output(f, add_step(f, {{0}}, {4}));
    Program program = calling(std::move(f));
    Function g = reading();
    g.name = "g";
    g.is_entry = false;
    if (is_returned) add_output(g, {0});
    add_function(program, std::move(g));
    EXPECT_EQ(error_of(program), "");
    EXPECT_EQ(uses_stack(program), !is_returned);
    for (FunctionIndex function : {FunctionIndex{1}, FunctionIndex{2}})
      EXPECT_EQ(program.functions[function].values[{0}].place.pool,
                is_returned ? kWorkspace : kStack);
  }
}

// --- Constraints. -------------------------------------------------------------------------------

// A program with this stack limit, in which the stack is required for value `id`.
Program with_limit(Function f, ValueId id, int64_t limit = 256) {
  Program program = stacked_program(std::move(f), limit);
  program.functions[{0}].values[id].place.pool = kStack;
  program.functions[{0}].values[id].is_scope_required = true;
  return program;
}

TEST(Stack, ConstrainedBuffersAreInTheFrame) {
  Function f = chain(16);
  launch(f.steps[0]).temporaries = {{4096, false, {}}};
  Program program = with_limit(std::move(f), {2});
  EXPECT_EQ(error_of(program), "");
  EXPECT_EQ(program.functions[{0}].values[{1}].place.pool, kWorkspace);
  EXPECT_EQ(height_in_frame(program), 64);
}

TEST(Stack, RejectsBuffersThatCannotBeInAFrame) {
  const std::string begins =
      "main: \"t2\" cannot be stored in cpu.global.stack (256 bytes per frame): ";
  const auto refused = [&](Function f, ValueId id = {2}) {
    Program program = with_limit(std::move(f), id);
    return error_of(program);
  };
  EXPECT_EQ(refused(chain(65)), begins + "it takes 260 bytes");
  EXPECT_EQ(refused(chain(DimExpr::symbol("n"))),
            begins + "its 4*n bytes have no constant upper bound within the limit");
  Function f = chain(16);
  f.outputs[0] = {2};
  EXPECT_EQ(refused(f), begins + "it is a result, which outlives the call");
  f = chain(16);
  f.values[{2}].storage = ValueStorage::kOwn;
  EXPECT_EQ(refused(f),
            begins + "it has its own storage (it outlives its block, or a callee allocates it)");
  f = chain(16);
  f.steps.push_back({.operands = {{2}}, .work = step::MakeList()});
  EXPECT_EQ(refused(f),
            begins + "it may outlive the frame: a list, closure or result refers to it");
  EXPECT_EQ(refused(chain(16), {0}),
            "main: \"in0\" cannot be stored in cpu.global.stack (256 bytes per frame): its "
            "storage belongs to the caller");
}

TEST(Stack, RejectsMoreThanTheFrameHas) {
  Program program = with_limit(chain(64), {1}, 511);
  program.functions[{0}].values[{2}].place.pool = kStack;
  program.functions[{0}].values[{2}].is_scope_required = true;
  EXPECT_EQ(error_of(program),
            "main: \"t1\" cannot be stored in cpu.global.stack (511 bytes per frame): all values "
            "required there take 512 bytes");
}

// --- Random functions. --------------------------------------------------------------------------

TEST(Stack, FramesStayWithinTheirLimit) {
  int used = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Function f = random_function(seed, 1 + static_cast<int>(seed % 40));
    const int64_t m = 1 + seed % 9;
    const auto small = [&](DimExpr e) {
      return e.substitute([&](std::string_view name) {
        return std::optional(name == "m" ? DimExpr(m) : DimExpr::symbol("n", {0, 20, 1}));
      });
    };
    f.dimensions = {{"n", 0, 20, 1, 10}};
    for (Value& value : f.values)
      for (DimExpr& dim : value.shape) dim = small(dim);
    for (Step& step : f.steps)
      for (Temporary& temporary : step.temporaries()) temporary.bytes = small(temporary.bytes);
    const int64_t limit = 64 << (seed % 10);
    Program program = stacked_program(std::move(f), limit);
    ASSERT_EQ(error_of(program), "");
    const int64_t height = height_in_frame(program);
    EXPECT_LE(height, limit);
    used += height > 0;
  }
  EXPECT_GT(used, 30) << "too few functions use their frame for a meaningful test";
  EXPECT_LT(used, 270);
}

}  // namespace
}  // namespace scopevm::compiler::memory

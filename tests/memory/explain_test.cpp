// Tests of the explanation of memory plans: edits keep the data flow, and suggestions have the
// peaks of the edited functions.
#include "compiler/memory/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/memory/explain/find_edits.h"
#include "compiler/memory/explain/live_bytes.h"
#include "tests/memory/random_functions.h"

namespace scopevm::compiler::memory {
namespace {

using Change = MemoryExplanation::Change;
using testing::ElementsAre;

constexpr int64_t kUnit = 64;  // bytes; the alignment of pools

Program program_of(Function function) {
  Program program{.machine = kHost};
  program.kernels.push_back({.symbol = "map_0"});   // cheap
  program.kernels.push_back({.symbol = "conv_1"});  // not cheap
  for (Value& value : function.values) value.place.pool = kHost.workspace_pool({0});
  for (Step& step : function.steps)
    for (Temporary& temporary : step.temporaries()) temporary.pool = kHost.workspace_pool({0});
  program.functions.push_back(std::move(function));
  return program;
}

ValueId add_units(Function& function, std::vector<ValueId> operands, int64_t units,
                  bool is_cheap = true) {
  const ValueId id = add_step(function, std::move(operands), {units * kUnit / 4});
  launch(function.steps.back()).kernel = {is_cheap ? 0u : 1u};
  return id;
}

MemoryExplanation::Arena explain_first_arena(const Program& program, const MemoryRequest& given) {
  const Function& function = program.functions.front();
  ShapeProgram shapes = *ShapeProgram::create(function);
  const Plan plan = *make_plan(program.machine, function, shapes);
  const Request request = *explained_request(function, shapes, given);
  const auto values = *shapes.evaluate(request.symbols, request.threads);
  const Arena& arena = plan.arenas.front();
  const std::map<PoolIndex, int64_t> heights = {{arena.pool, values[arena.height]}};
  return explain({.program = program,
                  .function = function,
                  .arena = arena,
                  .height = values[arena.height],
                  .request = request,
                  .bytes_of_pool = heights,
                  .heights = heights},
                 plan, shapes);
}

// For each step: every operand has been written before.
bool is_data_flow_kept(const Function& function) {
  std::vector<bool> is_written(function.values.size());
  for (ValueId id : function.values.indices())
    is_written[id.value] = function.values[id].origin == ValueOrigin::kInput;
  for (const Step& step : function.steps) {
    for (ValueId operand : step.operands)
      if (!is_written[root_of(function, operand).value]) return false;
    for (ValueId result : step.results) is_written[root_of(function, result).value] = true;
  }
  return std::ranges::all_of(function.outputs, [&](ValueId output) {
    return is_written[root_of(function, output).value];
  });
}

TEST(Explain, EditsKeepTheDataFlow) {
  int edits = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Program program = program_of(random_function(seed, 30));
    const Function& function = program.functions.front();
    const Liveness liveness = find_lifespans(program.machine, function);
    const Request request = sample_requests(function, 0).front();
    const auto arena =
        sized_arena(liveness, SegmentIndex{0}, program.machine.workspace_pool({0}), request);
    ASSERT_TRUE(arena);
    const int64_t step = peak_of(live_bytes(arena->buffers, function.steps.size())).step;
    std::vector<BufferIndex> live;
    for (int64_t i : live_at(arena->buffers, step)) live.push_back(arena->members[i]);
    for (const Edit& edit : find_edits(program, function, liveness, live, step, request)) {
      EditedFunction edited(function);
      apply(edit, liveness, edited);
      ++edits;
      EXPECT_TRUE(is_data_flow_kept(edited.function)) << "seed " << seed;
      EXPECT_EQ(edited.function.steps.size(),
                function.steps.size() + (edit.kind == Edit::Kind::kRecompute ? 1 : 0));
      EXPECT_EQ(edited.function.outputs, function.outputs);
    }
  }
  EXPECT_GT(edits, 100);
}

TEST(Explain, NamesTheReadersThatPreventReuse) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 4, /*is_cheap=*/false);
  const ValueId b = add_units(function, {a}, 4, /*is_cheap=*/false);
  launch(function.steps.back()).in_place.push_back({0, 0});
  const ValueId c = add_units(function, {b}, 2, /*is_cheap=*/false);
  const ValueId d = add_units(function, {a, c}, 1, /*is_cheap=*/false);
  add_output(function, add_units(function, {d}, 1));
  const MemoryExplanation::Arena arena = explain_first_arena(program_of(function), {});
  EXPECT_EQ(arena.peak.bytes, 10 * kUnit);
  EXPECT_EQ(arena.peak.step, 2);
  ASSERT_FALSE(arena.suggestions.empty());
  const Change& change = arena.suggestions.front().changes.front();
  EXPECT_EQ(change.kind, Change::Kind::kReuse);
  EXPECT_EQ(change.value, "t2");
  EXPECT_EQ(change.operand, "t1");
  EXPECT_THAT(change.steps, ElementsAre(3));
  EXPECT_EQ(arena.suggestions.front().lower_bound_bytes, 6 * kUnit);
}

TEST(Explain, RecomputesCheapValue) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 8);
  const ValueId b = add_units(function, {a}, 1, /*is_cheap=*/false);
  const ValueId c = add_units(function, {b}, 8, /*is_cheap=*/false);
  const ValueId d = add_units(function, {c}, 1, /*is_cheap=*/false);
  add_output(function, add_units(function, {a, d}, 1));
  const MemoryExplanation::Arena arena = explain_first_arena(program_of(function), {});
  EXPECT_EQ(arena.peak.bytes, 17 * kUnit);
  ASSERT_FALSE(arena.suggestions.empty());
  const MemoryExplanation::Suggestion& suggestion = arena.suggestions.front();
  EXPECT_EQ(suggestion.changes.front().kind, Change::Kind::kRecompute);
  EXPECT_EQ(suggestion.changes.front().value, "t1");
  EXPECT_EQ(suggestion.changes.front().before, 4);
  EXPECT_EQ(suggestion.changes.front().accessed_bytes, 8 * kUnit + int64_t{16} * 4);
  EXPECT_EQ(suggestion.lower_bound_bytes, 9 * kUnit);
  EXPECT_EQ(suggestion.bytes, 9 * kUnit);
}

TEST(Explain, DelaysStepWhoseResultIsReadLater) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 8, /*is_cheap=*/false);
  const ValueId b = add_units(function, {x}, 8, /*is_cheap=*/false);
  const ValueId c = add_units(function, {b}, 1, /*is_cheap=*/false);
  add_output(function, add_units(function, {a, c}, 1));
  const MemoryExplanation::Arena arena = explain_first_arena(program_of(function), {});
  EXPECT_EQ(arena.peak.bytes, 17 * kUnit);
  ASSERT_FALSE(arena.suggestions.empty());
  const MemoryExplanation::Suggestion& suggestion = arena.suggestions.front();
  EXPECT_EQ(suggestion.changes.front().kind, Change::Kind::kReorder);
  EXPECT_THAT(suggestion.changes.front().steps, ElementsAre(0));
  EXPECT_EQ(suggestion.changes.front().before, 3);
  EXPECT_EQ(suggestion.lower_bound_bytes, 9 * kUnit);
}

// Two equal layers: each change lowers one of two equal peaks.
TEST(Explain, CombinesChangesOfEqualPeaks) {
  Function function;
  const ValueId x = add_input(function, {16});
  ValueId last = x;
  for (int layer = 0; layer < 2; ++layer) {
    const ValueId a = add_units(function, {last}, 8, /*is_cheap=*/false);
    const ValueId b = add_units(function, {x}, 8, /*is_cheap=*/false);
    const ValueId c = add_units(function, {b}, 1, /*is_cheap=*/false);
    last = add_units(function, {a, c}, 1, /*is_cheap=*/false);
  }
  add_output(function, add_units(function, {last}, 1));
  const MemoryExplanation::Arena arena = explain_first_arena(program_of(function), {});
  ASSERT_TRUE(arena.next_peak);
  EXPECT_EQ(arena.next_peak->bytes, arena.peak.bytes);
  ASSERT_FALSE(arena.suggestions.empty());
  EXPECT_EQ(arena.suggestions.front().changes.size(), 2);
  EXPECT_LT(arena.suggestions.front().lower_bound_bytes, arena.peak.bytes);
}

// Appends a loop mark. The result is its position.
int64_t add_loop(Function& function) {
  function.steps.push_back(
      {.segment = function.segments.next_index(), .work = step::Loop{.trip_count = 3}});
  function.segments.push_back({});
  return static_cast<int64_t>(function.steps.size()) - 1;
}

TEST(Explain, MovesStepsPastLoop) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 8, /*is_cheap=*/false);
  const int64_t begin = add_loop(function);
  const ValueId b = add_units(function, {x}, 8, /*is_cheap=*/false);
  add_units(function, {b}, 1, /*is_cheap=*/false);
  function.steps.push_back({.work = step::EndLoop{.begin = begin}});
  add_output(function, add_units(function, {a}, 1));
  const MemoryExplanation::Arena arena = explain_first_arena(program_of(function), {});
  EXPECT_EQ(arena.peak.bytes, 17 * kUnit);
  ASSERT_EQ(arena.suggestions.size(), 2);
  EXPECT_THAT(arena.suggestions.front().changes.front().steps, ElementsAre(0));
  EXPECT_EQ(arena.suggestions.front().changes.front().before, 5);
  EXPECT_EQ(arena.suggestions.front().lower_bound_bytes, 9 * kUnit);
  // The reader of the value can also run before the loop.
  EXPECT_THAT(arena.suggestions.back().changes.front().steps, ElementsAre(5));
  EXPECT_EQ(arena.suggestions.back().changes.front().before, begin);
}

// The next iteration reads the value again.
TEST(Explain, KeepsValueThatLoopReads) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 8);
  const int64_t begin = add_loop(function);
  const ValueId b = add_units(function, {x}, 8, /*is_cheap=*/false);
  const ValueId c = add_units(function, {b}, 1, /*is_cheap=*/false);
  add_units(function, {a, c}, 1, /*is_cheap=*/false);
  function.steps.push_back({.work = step::EndLoop{.begin = begin}});
  add_output(function, add_units(function, {x}, 1));
  const MemoryExplanation::Arena arena = explain_first_arena(program_of(function), {});
  EXPECT_EQ(arena.peak.bytes, 17 * kUnit);
  EXPECT_TRUE(arena.suggestions.empty());
}

TEST(Explain, RepresentativeDimsSatisfyChecks) {
  const DimExpr n = DimExpr::symbol("n"), m = DimExpr::symbol("m");
  Function function;
  function.dimensions = {{.name = "n", .max = 1024, .representative = 64},
                         {.name = "m", .max = 1024, .representative = 64}};
  const ValueId x = add_input(function, {n, m});
  add_output(function, add_step(function, {x}, {n}));
  function.checks = {{.kind = Check::Kind::kEqual, .lhs = m, .rhs = n + 3, .message = "{0} {1}"}};
  const ShapeProgram shapes = *ShapeProgram::create(function);
  const auto request = explained_request(function, shapes, {});
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(request->symbols.at("m"), 67);
  const auto wrong = explained_request(function, shapes, {.dims = {{"m", 7}, {"n", 5}}});
  EXPECT_EQ(wrong.status().message(), "7 8");
}

TEST(Explain, RefusesUnknownDimension) {
  const Program program = program_of(random_function(1, 5));
  const ShapeProgram shapes = *ShapeProgram::create(program.functions.front());
  const auto request =
      explained_request(program.functions.front(), shapes, {.dims = {{"k", 3}}, .threads = 1});
  EXPECT_EQ(request.status().message(), "unknown dimension \"k\"; known: m, n");
  const auto large =
      explained_request(program.functions.front(), shapes, {.dims = {{"n", 5000}}, .threads = 1});
  EXPECT_EQ(large.status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace scopevm::compiler::memory

// Tests of reordered steps: the data flow is kept, and no peak becomes higher.
#include "compiler/program/transform/reorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/memory/live_bytes.h"
#include "tests/memory/random_functions.h"

namespace scopevm::compiler::memory {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kUnit = 64;  // bytes; the alignment of pools

ValueId add_units(Function& function, std::vector<ValueId> operands, int64_t units) {
  return add_step(function, std::move(operands), {units * kUnit / 4});
}

Program program_of(Function function) {
  Program program{.machine = kHost};
  program.kernels.push_back({.symbol = "conv_0"});
  for (Value& value : function.values) value.place.pool = kHost.workspace_pool({0});
  for (Step& step : function.steps)
    for (Temporary& temporary : step.temporaries()) temporary.pool = kHost.workspace_pool({0});
  program.functions.push_back(std::move(function));
  return program;
}

int64_t peak_bytes(const Function& function) {
  const Liveness liveness = find_lifespans(kHost, function);
  std::vector<BufferIndex> all;
  for (BufferIndex buffer : liveness.buffers.indices()) all.push_back(buffer);
  const auto sizes = sizes_at(liveness, all, sample_requests(function, 0).front());
  return peak_of(live_bytes(sized_buffers(liveness, all, *sizes), function.steps.size())).bytes;
}

Function reordered(Function function) {
  Program program = program_of(std::move(function));
  transform::reorder_steps(program);
  return program.functions.front();
}

std::vector<std::string> names_of(const Function& function) {
  std::vector<std::string> names;
  for (const Step& step : function.steps) names.push_back(step.name);
  return names;
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

TEST(Reorder, KeepsDataFlowAndLowersPeaks) {
  int lowered = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Function function = program_of(random_function(seed, 30)).functions.front();
    const Function after = reordered(function);
    EXPECT_TRUE(is_data_flow_kept(after)) << "seed " << seed;
    std::vector<std::string> before_names = names_of(function), after_names = names_of(after);
    const bool is_changed = before_names != after_names;
    std::ranges::sort(before_names);
    std::ranges::sort(after_names);
    EXPECT_EQ(before_names, after_names) << "seed " << seed;
    EXPECT_LE(peak_bytes(after), peak_bytes(function)) << "seed " << seed;
    lowered += is_changed;
  }
  EXPECT_GT(lowered, 20);
}

TEST(Reorder, DelaysStepWhoseResultIsReadLater) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 8);
  const ValueId b = add_units(function, {x}, 8);
  const ValueId c = add_units(function, {b}, 1);
  add_output(function, add_units(function, {a, c}, 1));
  const Function after = reordered(program_of(function).functions.front());
  EXPECT_THAT(names_of(after), ElementsAre("s2", "s3", "s1", "s4"));
  EXPECT_EQ(peak_bytes(after), 9 * kUnit);
}

TEST(Reorder, RunsReaderBeforePeak) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 8);
  const ValueId first = add_units(function, {a}, 1);
  const ValueId b = add_units(function, {x}, 8);
  const ValueId c = add_units(function, {b}, 1);
  const ValueId second = add_units(function, {a}, 1);
  add_output(function, add_units(function, {first, c, second}, 1));
  const Function after = reordered(program_of(function).functions.front());
  EXPECT_THAT(names_of(after), ElementsAre("s1", "s2", "s5", "s3", "s4", "s6"));
  EXPECT_EQ(peak_bytes(after), 11 * kUnit);
}

// Two equal layers: each move lowers one of two equal peaks.
TEST(Reorder, LowersEqualPeaks) {
  Function function;
  const ValueId x = add_input(function, {16});
  ValueId last = x;
  for (int layer = 0; layer < 2; ++layer) {
    const ValueId a = add_units(function, {last}, 8);
    const ValueId b = add_units(function, {x}, 8);
    const ValueId c = add_units(function, {b}, 1);
    last = add_units(function, {a, c}, 1);
  }
  add_output(function, add_units(function, {last}, 1));
  const Program program = program_of(function);
  EXPECT_LT(peak_bytes(reordered(program.functions.front())),
            peak_bytes(program.functions.front()));
}

// Appends a loop mark. The result is its position.
int64_t add_loop(Function& function) {
  function.steps.push_back(
      {.segment = function.segments.next_index(), .work = step::Loop{.trip_count = 3}});
  function.segments.push_back({});
  return static_cast<int64_t>(function.steps.size()) - 1;
}

TEST(Reorder, MovesStepPastLoop) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 8);
  const int64_t begin = add_loop(function);
  const ValueId b = add_units(function, {x}, 8);
  add_units(function, {b}, 1);
  function.steps.push_back({.work = step::EndLoop{.begin = begin}});
  add_output(function, add_units(function, {a}, 1));
  const Function after = reordered(program_of(function).functions.front());
  EXPECT_EQ(peak_bytes(after), 9 * kUnit);
  EXPECT_EQ(after.steps[3].as<step::EndLoop>()->begin, 0);
}

// The next iteration reads the value again.
TEST(Reorder, KeepsValueThatLoopReads) {
  Function function;
  const ValueId x = add_input(function, {16});
  const ValueId a = add_units(function, {x}, 8);
  const int64_t begin = add_loop(function);
  const ValueId b = add_units(function, {x}, 8);
  const ValueId c = add_units(function, {b}, 1);
  add_units(function, {a, c}, 1);
  function.steps.push_back({.work = step::EndLoop{.begin = begin}});
  add_output(function, add_units(function, {x}, 1));
  EXPECT_EQ(names_of(reordered(program_of(function).functions.front())), names_of(function));
}

}  // namespace
}  // namespace scopevm::compiler::memory

// Layers: offsets at one set of sizes -> offsets at any sizes, and the choice of layers by samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/memory/layers.h"
#include "compiler/program/program.h"

namespace scopevm::compiler::memory {
namespace {

using Sizes = std::vector<int64_t>;

plan::Problem random_problem(uint32_t seed, int count) {
  std::mt19937 random(seed);
  plan::Problem problem;
  for (int i = 0; i < count; ++i) {
    const auto lower = static_cast<int64_t>(random() % 50);
    problem.buffers.push_back(
        {.id = std::to_string(i),
         .lifespans = {{lower, lower + 1 + static_cast<int64_t>(random() % 12)}},
         .alignment = Pool::kLeastAlignment});
  }
  return problem;
}

Sizes random_sizes(std::mt19937& random, size_t count) {
  Sizes sizes;
  for (size_t i = 0; i < count; ++i)
    sizes.push_back(static_cast<int64_t>(random() % 20) * Pool::kLeastAlignment);
  return sizes;
}

void set_sizes(plan::Problem& problem, const Sizes& sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) problem.buffers[i].size = sizes[i];
}

plan::Plan solved(const plan::Problem& problem) {
  const auto plan = plan::solve(problem, {.solver = plan::Solver::kHeuristic});
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  return *plan;
}

// The plan that layers have at these sizes. Its validity is checked.
plan::Plan placed(const plan::Problem& problem, const Layers& layers, const Sizes& sizes) {
  plan::Plan plan{.offsets = place_by_layers(layers, sizes),
                  .pools = std::vector<int>(sizes.size())};
  for (size_t i = 0; i < sizes.size(); ++i)
    plan.height = std::max(plan.height, plan.offsets[i] + sizes[i]);
  const Status status = plan::validate(problem, plan);
  EXPECT_TRUE(status.ok()) << status.message();
  return plan;
}

TEST(Layers, ReproduceTheirPlanOrALowerOne) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    plan::Problem problem = random_problem(seed, 60);
    const Sizes sizes = random_sizes(random, 60);
    set_sizes(problem, sizes);
    const plan::Plan plan = solved(problem);
    const plan::Plan again = placed(problem, layers_of(problem, plan), sizes);
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] > 0) ASSERT_LE(again.offsets[i], plan.offsets[i]);
  }
}

TEST(Layers, HoldAtAnySizes) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    plan::Problem problem = random_problem(seed, 60);
    set_sizes(problem, random_sizes(random, 60));
    const Layers layers = layers_of(problem, solved(problem));
    for (int i = 0; i < 10; ++i) {
      const Sizes sizes = random_sizes(random, 60);
      set_sizes(problem, sizes);
      placed(problem, layers, sizes);
    }
  }
}

// a and c, and b and d, are live together at the end. With a large b, c must be below d, where b
// was; with a large a, d must be where a was.
TEST(Layers, SeveralAreChosenWhereNoneFitsAllSamples) {
  plan::Problem problem;
  const auto add = [&](int64_t lower, int64_t upper) {
    problem.buffers.push_back({.lifespans = {{lower, upper}}});
  };
  add(0, 2);  // a
  add(0, 3);  // b
  add(2, 4);  // c, after a
  add(3, 4);  // d, after b
  add(4, 5);
  const std::vector<Sizes> samples = {{1, 4, 4, 1, 5}, {4, 1, 1, 4, 5}};
  const auto layers = choose_layers(problem, samples);
  ASSERT_TRUE(layers.ok()) << layers.status().message();
  for (const Sizes& sizes : samples) {
    set_sizes(problem, sizes);
    int64_t least = INT64_MAX;
    for (const Layers& one : *layers) least = std::min(least, placed(problem, one, sizes).height);
    EXPECT_EQ(least, *plan::live_bytes_bound(problem));
  }
}

TEST(Layers, LowestOfTheChosenOnesIsCloseToTheBoundAtAllSamples) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    plan::Problem problem = random_problem(seed, 40);
    std::vector<Sizes> samples;
    for (int i = 0; i < 3; ++i) samples.push_back(random_sizes(random, 40));
    const auto layers = choose_layers(problem, samples);
    ASSERT_TRUE(layers.ok()) << layers.status().message();
    ASSERT_LE(layers->size(), samples.size());
    for (const Sizes& sizes : samples) {
      set_sizes(problem, sizes);
      int64_t least = INT64_MAX;
      for (const Layers& one : *layers) least = std::min(least, placed(problem, one, sizes).height);
      // At most that of the plan for this sample alone, or sufficient.
      EXPECT_LE(static_cast<double>(least),
                std::max(static_cast<double>(solved(problem).height),
                         1.02 * static_cast<double>(*plan::live_bytes_bound(problem))));
    }
  }
}

}  // namespace
}  // namespace scopevm::compiler::memory

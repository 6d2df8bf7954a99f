// Problems of the planning tests.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "scopevm/plan.h"

namespace scopevm::plan {

inline Buffer buffer(std::string id, int64_t lower, int64_t upper, int64_t size) {
  Buffer result;
  result.id = std::move(id);
  result.lifespans = {{lower, upper}};
  result.size = size;
  return result;
}

// Fails the test if the plan is missing or invalid.
inline Plan solve_or_fail(const Problem& problem, const Options& options = {}) {
  Result<Plan> plan = solve(problem, options);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.status().message();
    return {};
  }
  const Status status = validate(problem, *plan);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_GE(plan->height, plan->lower_bound);
  return *std::move(plan);
}

// They stop by themselves long before the limit, so that a busy machine changes no plan.
inline Options only_heuristics() { return {.time_limit_s = 100, .solver = Solver::kHeuristic}; }

}  // namespace scopevm::plan

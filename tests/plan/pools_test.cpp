// Pools with limits and costs, and the defects of an earlier planner (TVM's USMP) as examples.
#include "tests/plan/problems.h"

namespace scopevm::plan {
namespace {

Problem with_pools(std::vector<Buffer> buffers, std::vector<Pool> pools) {
  return {std::move(buffers), std::move(pools)};
}

TEST(Pools, TheCheapestPoolWithRoomIsUsed) {
  const Problem problem = with_pools({buffer("a", 0, 2, 60), buffer("b", 1, 3, 60)},
                                     {{"slow", std::nullopt, 2}, {"fast", 100, 1}});
  const Plan plan = solve_or_fail(problem, only_heuristics());
  EXPECT_EQ(plan.cost, 60 + 2 * 60);
  EXPECT_NE(plan.pools[0], plan.pools[1]);
}

TEST(Pools, TheFirstCandidateIsPreferredAtEqualCost) {
  Problem problem = with_pools({buffer("a", 0, 2, 60)}, {{"x", {}, 0}, {"y", {}, 0}});
  problem.buffers[0].pools = {1, 0};
  EXPECT_EQ(solve_or_fail(problem, only_heuristics()).pools[0], 1);
}

TEST(Pools, APlanInTheCheapestPoolsIsOptimalAtTheBound) {
  const Problem problem = with_pools({buffer("a", 0, 2, 60), buffer("b", 1, 3, 40)},
                                     {{"slow", std::nullopt, 2}, {"fast", 100, 1}});
  const Plan plan = solve_or_fail(problem, only_heuristics());
  EXPECT_EQ(plan.pools, (std::vector<int>{1, 1}));
  EXPECT_EQ(plan.proof, Proof::kOptimal);
}

// The group that fits nowhere in one order comes first in the next.
TEST(Pools, BuffersWithOneCandidateAreNotDisplaced) {
  Problem problem = with_pools({buffer("large", 0, 2, 80), buffer("small", 0, 2, 40)},
                               {{"a", 100, 0}, {"b", 100, 1}});
  problem.buffers[1].pools = {0};
  const Plan plan = solve_or_fail(problem, only_heuristics());
  EXPECT_EQ(plan.pools, (std::vector<int>{1, 0}));
}

TEST(Pools, ABufferLargerThanAllItsPoolsIsInfeasible) {
  const Problem problem = with_pools({buffer("a", 0, 2, 60)}, {{"x", 50, 0}, {"y", 59, 0}});
  const Result<Plan> plan = solve(problem, only_heuristics());
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->offsets.empty());
  EXPECT_EQ(plan->proof, Proof::kInfeasible);
}

TEST(Pools, BuffersOfOnePoolAboveItsLimitAreInfeasible) {
  Problem problem =
      with_pools({buffer("a", 0, 2, 60), buffer("b", 0, 2, 60)}, {{"x", 100, 0}, {"y", {}, 0}});
  problem.buffers[0].pools = problem.buffers[1].pools = {0};
  const Result<Plan> plan = solve(problem, only_heuristics());
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->offsets.empty());
}

TEST(Pools, TheWholePoolCanBeUsed) {
  const Problem problem = with_pools({buffer("a", 0, 2, 100)}, {{"x", 100, 0}});
  EXPECT_EQ(solve_or_fail(problem, only_heuristics()).height, 100);
}

TEST(Pools, TheCapacityLimitsEachPool) {
  const Problem problem =
      with_pools({buffer("a", 0, 2, 60), buffer("b", 0, 2, 60)}, {{"x", {}, 0}, {"y", {}, 1}});
  Options options = only_heuristics();
  options.capacity = 60;
  EXPECT_EQ(solve_or_fail(problem, options).pools, (std::vector<int>{0, 1}));
}

// USMP rounds an offset to the alignment of the conflicting buffer below.
TEST(UsmpDefects, OffsetsHaveTheAlignmentOfTheirOwnBuffer) {
  Problem problem{{buffer("below", 0, 2, 100), buffer("above", 0, 2, 64)}, {}};
  problem.buffers[1].alignment = 64;
  problem.buffers[0].offset = 0;
  EXPECT_EQ(solve_or_fail(problem, only_heuristics()).offsets[1], 128);
}

// USMP removes a pool that has no room above one conflict, and adds it again at the next, lower
// conflict: C would be placed at 40, over A.
TEST(UsmpDefects, AFullPoolStaysFullForABuffer) {
  Problem problem =
      with_pools({buffer("A", 0, 2, 70), buffer("B", 2, 4, 40), buffer("C", 1, 3, 40)},
                 {{"limited", 100, 0}, {"other", std::nullopt, 1}});
  problem.buffers[0].pools = problem.buffers[1].pools = {0};
  const Plan plan = solve_or_fail(problem, only_heuristics());
  EXPECT_EQ(plan.pools[2], 1);

  problem.buffers[2].pools = {0};
  const Result<Plan> limited = solve(problem, only_heuristics());
  ASSERT_TRUE(limited.ok());
  EXPECT_TRUE(limited->offsets.empty());
  EXPECT_EQ(limited->proof, Proof::kInfeasible);
}

// USMP places into pools that are not candidates.
TEST(UsmpDefects, OnlyCandidatesAreUsed) {
  Problem problem = with_pools({buffer("a", 0, 2, 70), buffer("b", 1, 3, 70)},
                               {{"x", 100, 0}, {"y", 100, 1}, {"z", std::nullopt, 0}});
  problem.buffers[0].pools = problem.buffers[1].pools = {0, 1};
  const Plan plan = solve_or_fail(problem, only_heuristics());
  EXPECT_EQ(plan.pools[0] + plan.pools[1], 1);
}

// USMP stores offsets in 32 bits.
TEST(UsmpDefects, OffsetsHave64Bits) {
  const int64_t size = int64_t{3} << 30;
  const Problem problem{{buffer("a", 0, 2, size), buffer("b", 0, 2, size), buffer("c", 0, 2, size)},
                        {}};
  EXPECT_EQ(solve_or_fail(problem, only_heuristics()).height, 3 * size);
}

// USMP's greedy algorithms place a buffer above all its conflicts: gaps below them stay unused.
TEST(UsmpDefects, GapsBelowConflictsAreUsed) {
  Problem problem{{buffer("fixed", 0, 2, 10), buffer("b", 0, 2, 50)}, {}};
  problem.buffers[0].offset = 50;
  const Plan plan = solve_or_fail(problem, only_heuristics());
  EXPECT_EQ(plan.offsets[1], 0);
  EXPECT_EQ(plan.height, 60);
}

// USMP's search removes a pool because there is no room above a high conflict, although there is
// room below it.
TEST(UsmpDefects, RoomBelowAHighConflictKeepsThePool) {
  Problem problem = with_pools({buffer("high", 0, 2, 40), buffer("b", 0, 2, 50)}, {{"x", 100, 0}});
  problem.buffers[0].offset = 60;
  EXPECT_EQ(solve_or_fail(problem, only_heuristics()).offsets[1], 0);
}

// A pool without room for one buffer has room for the next.
TEST(UsmpDefects, APoolThatIsFullForOneBufferServesOthers) {
  const Problem problem =
      with_pools({buffer("a", 0, 2, 60), buffer("b", 0, 2, 50), buffer("c", 0, 2, 40)},
                 {{"x", 100, 0}, {"y", std::nullopt, 1}});
  const Plan plan = solve_or_fail(problem, only_heuristics());
  EXPECT_EQ(plan.pools, (std::vector<int>{0, 1, 0}));
}

// USMP starts a lifespan before it ends another at the same step.
TEST(UsmpDefects, ABufferReusesTheMemoryOfOneThatEndsAtItsFirstStep) {
  const Problem problem{{buffer("a", 0, 1, 8), buffer("b", 1, 2, 8)}, {}};
  EXPECT_EQ(solve_or_fail(problem, only_heuristics()).height, 8);
}

}  // namespace
}  // namespace scopevm::plan

// The validator rejects each kind of invalid plan.
#include "tests/plan/problems.h"

namespace scopevm::plan {
namespace {

std::string error_of(const Problem& problem, const Plan& plan) {
  return std::string(validate(problem, plan).message());
}

Plan plan_of(std::vector<int64_t> offsets, int64_t height) {
  Plan plan;
  plan.pools.assign(offsets.size(), 0);
  plan.offsets = std::move(offsets);
  plan.height = height;
  return plan;
}

TEST(Validate, RejectsBuffersThatOverlap) {
  const Problem problem{{buffer("a", 0, 3, 8), buffer("b", 2, 4, 8)}, {}};
  EXPECT_TRUE(validate(problem, plan_of({0, 8}, 16)).ok());
  EXPECT_EQ(error_of(problem, plan_of({0, 7}, 16)),
            "buffer \"b\" at offset 7 overlaps buffer \"a\" at offset 0 at step 2");
  EXPECT_EQ(error_of(problem, plan_of({4, 0}, 16)),
            "buffer \"b\" at offset 0 overlaps buffer \"a\" at offset 4 at step 2");
  EXPECT_FALSE(validate(problem, plan_of({4, 4}, 16)).ok());
}

TEST(Validate, FindsOverlapsAfterAGap) {
  Problem problem{{buffer("a", 0, 9, 8), buffer("b", 3, 7, 8)}, {}};
  problem.buffers[0].lifespans = {{0, 3}, {6, 9}};
  EXPECT_EQ(error_of(problem, plan_of({0, 0}, 16)),
            "buffer \"a\" at offset 0 overlaps buffer \"b\" at offset 0 at step 6");
  problem.buffers[1].lifespans = {{3, 6}};
  EXPECT_TRUE(validate(problem, plan_of({0, 0}, 16)).ok());
}

TEST(Validate, RejectsInvalidOffsets) {
  Problem problem{{buffer("a", 0, 3, 8)}, {}};
  EXPECT_EQ(error_of(problem, plan_of({-8}, 16)),
            "buffer \"a\" at offset -8: the offset is negative");
  EXPECT_EQ(error_of(problem, plan_of({9}, 16)),
            "buffer \"a\" at offset 9 ends above the plan's height 16");
  problem.buffers[0].alignment = 16;
  EXPECT_EQ(error_of(problem, plan_of({8}, 16)),
            "buffer \"a\" at offset 8: expected a multiple of the alignment 16");
  problem.buffers[0].offset = 32;
  EXPECT_EQ(error_of(problem, plan_of({0}, 16)),
            "buffer \"a\" at offset 0: expected the required offset 32");
}

TEST(Validate, RejectsOffsetsThatOverflow) {
  const Problem problem{{buffer("a", 0, 3, int64_t{1} << 62)}, {}};
  EXPECT_FALSE(validate(problem, plan_of({int64_t{3} << 61}, int64_t{1} << 62)).ok());
}

TEST(Validate, RejectsWrongPools) {
  Problem problem{{buffer("a", 0, 3, 8)}, {{"x", {}, 0}, {"y", 4, 0}}};
  problem.buffers[0].id.clear();
  problem.buffers[0].pools = {1};
  Plan plan = plan_of({0}, 8);
  EXPECT_EQ(error_of(problem, plan), "buffer 0: pool 0 is not a candidate");
  plan.pools = {2};
  EXPECT_EQ(error_of(problem, plan), "buffer 0: the problem has no pool 2");
  plan.pools = {1};
  EXPECT_EQ(error_of(problem, plan), "buffer 0 at offset 0 ends above the limit of pool \"y\", 4");
}

TEST(Validate, RejectsViewsOutsideTheirBase) {
  Problem problem{{buffer("a", 0, 3, 8), buffer("b", 0, 3, 4)}, {}};
  problem.buffers[1].base = 0;
  problem.buffers[1].base_offset = 4;
  EXPECT_TRUE(validate(problem, plan_of({0, 4}, 8)).ok());
  EXPECT_EQ(error_of(problem, plan_of({0, 0}, 8)),
            "buffer \"b\" at offset 0: expected byte 4 of its base, buffer \"a\" at offset 0");
}

TEST(Validate, RejectsPlansOfAnotherSize) {
  const Problem problem{{buffer("a", 0, 3, 8)}, {}};
  EXPECT_EQ(error_of(problem, Plan()), "the plan has 0 offsets and 0 pools for 1 buffers");
}

}  // namespace
}  // namespace scopevm::plan

// Invalid problems are errors that name the buffer.
#include <limits>

#include "tests/plan/problems.h"

namespace scopevm::plan {
namespace {

std::string error_of(const Problem& problem) {
  const Result<Plan> plan = solve(problem, only_heuristics());
  if (plan.ok()) return "";
  EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument);
  return std::string(plan.status().message());
}

// Two buffers; `change` makes the second one invalid.
template <typename Change>
std::string error_after(Change change) {
  Problem problem{{buffer("a", 0, 4, 64), buffer("b", 0, 4, 8)}, {}};
  change(problem, problem.buffers[1]);
  return error_of(problem);
}

TEST(InvalidProblem, OfOneBuffer) {
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.size = -1; }),
            "buffer \"b\": size -1 is negative");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.alignment = 0; }),
            "buffer \"b\": alignment 0: expected a number from 1 to 2^40");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.lifespans.clear(); }),
            "buffer \"b\": has no lifespan");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.lifespans = {{4, 4}}; }),
            "buffer \"b\": lifespan [4, 4): expected lower < upper");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.lifespans = {{0, 4}, {3, 5}}; }),
            "buffer \"b\": lifespan [3, 5) does not begin after [0, 4); expected ascending, "
            "disjoint lifespans");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) {
              b.alignment = 16;
              b.offset = 8;
            }),
            "buffer \"b\": required offset 8: expected a multiple of the alignment 16, and at "
            "least 0");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.pools = {1}; }),
            "buffer \"b\": pool 1: the problem has 1 pool");
}

TEST(InvalidProblem, OfViews) {
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.base = 2; }),
            "buffer \"b\": base 2: no such buffer");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) {
              b.base = 0;
              b.base_offset = 57;
            }),
            "buffer \"b\": 8 bytes at byte 57 are not inside the base, buffer \"a\", of 64 bytes");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.base = 1; }),
            "buffer \"b\": is a view of itself");
  EXPECT_EQ(error_after([](Problem&, Buffer& b) {
              b.base = 0;
              b.base_offset = 8;
              b.alignment = 16;
            }),
            "buffer \"b\": byte 8 of its base is not a multiple of its alignment 16");
  EXPECT_EQ(error_after([](Problem& problem, Buffer& b) {
              b.base = 0;
              b.offset = 8;
              problem.buffers[0].offset = 0;
            }),
            "buffer \"b\": its required offset 8 contradicts that of its base or of another view");
  EXPECT_EQ(error_after([](Problem& problem, Buffer& b) {
              b.base = 0;
              b.alignment = 16;
              problem.buffers[0].offset = 8;
            }),
            "buffer \"a\": the required offset 8 of its base is not a multiple of the alignment 16 "
            "of its views");
  EXPECT_EQ(error_after([](Problem& problem, Buffer& b) {
              b.base = 0;
              problem.pools = {{"x", {}, 0}, {"y", {}, 0}};
              problem.buffers[0].pools = {0};
              b.pools = {1};
            }),
            "buffer \"b\": has no candidate pool in common with its base");
  EXPECT_EQ(error_after([](Problem& problem, Buffer& b) {
              b.base = 0;
              b.alignment = (int64_t{1} << 40) - 1;
              problem.buffers[0].alignment = int64_t{1} << 40;
            }),
            "buffer \"b\": the least common alignment of the views exceeds 2^40");
}

TEST(InvalidProblem, OfRequiredOffsets) {
  EXPECT_EQ(error_after([](Problem& problem, Buffer& b) {
              problem.buffers[0].offset = 0;
              b.offset = 60;
            }),
            "buffer \"b\": its required offset 60 overlaps that of buffer \"a\"");
}

TEST(InvalidProblem, OfPools) {
  Problem problem{{buffer("a", 0, 4, 64)}, {{"x", -1, 0}}};
  EXPECT_EQ(error_of(problem), "pool \"x\": the limit is negative");
  problem.pools[0] = {"x", {}, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(error_of(problem), "pool \"x\": the cost is not finite");
}

TEST(InvalidProblem, OfSums) {
  const std::string expected =
      "the sum of sizes, alignments and required offsets exceeds 2^61 bytes";
  EXPECT_EQ(error_after([](Problem&, Buffer& b) { b.size = int64_t{1} << 62; }), expected);
  EXPECT_EQ(error_after([](Problem& problem, Buffer& b) {
              b.size = problem.buffers[0].size = int64_t{1} << 60;
            }),
            expected);
  EXPECT_EQ(
      error_after([](Problem&, Buffer& b) { b.offset = std::numeric_limits<int64_t>::max(); }),
      expected);
}

TEST(InvalidProblem, WithoutAnIdIsNamedByItsPosition) {
  Problem problem{{buffer("", 0, 4, -1)}, {}};
  EXPECT_EQ(error_of(problem), "buffer 0: size -1 is negative");
}

}  // namespace
}  // namespace scopevm::plan

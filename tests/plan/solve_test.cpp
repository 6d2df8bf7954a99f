// Plans of random problems are valid; those of tiny problems are compared with the optimum.
#include <algorithm>
#include <numeric>

#include "bench/memory/instances.h"
#include "tests/plan/problems.h"

namespace scopevm::plan {
namespace {

class RandomProblem {
 public:
  explicit RandomProblem(uint64_t seed) : random_(seed) {}

  // Gaps, alignments, required offsets and buffers without bytes.
  Problem one_pool(int count) {
    Problem problem;
    for (int i = 0; i < count; ++i) {
      Buffer b = buffer(std::to_string(i), 0, 1, number(0, 40));
      b.lifespans = lifespans();
      if (number(0, 3) == 0) b.alignment = std::vector<int64_t>{2, 4, 16, 48}[number(0, 3)];
      if (number(0, 9) == 0) b.offset = b.alignment * number(0, 8);
      problem.buffers.push_back(std::move(b));
    }
    return problem;
  }

  // Also views, and pools with limits and costs.
  Problem any(int count) {
    Problem problem = one_pool(count);
    for (int i = 1; i < count; ++i) {
      Buffer& view = problem.buffers[i];
      const int base = static_cast<int>(number(0, i - 1));
      const int64_t room = problem.buffers[base].size - view.size;
      if (number(0, 3) != 0 || room < 0) continue;
      view.base = base;
      view.base_offset = number(0, room);
      view.alignment = 1;
      view.offset.reset();
    }
    const auto pools = static_cast<int>(number(0, 3));
    for (int i = 0; i < pools; ++i) {
      Pool pool{"pool" + std::to_string(i), std::nullopt, static_cast<double>(number(0, 2))};
      if (number(0, 1) == 0) pool.limit = number(20, 400);
      problem.pools.push_back(std::move(pool));
    }
    for (Buffer& b : problem.buffers)
      for (int i = 0; i < pools && !b.base; ++i)
        if (number(0, 2) == 0) b.pools.push_back(i);
    return problem;
  }

 private:
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  std::vector<Lifespan> lifespans() {
    std::vector<Lifespan> spans;
    int64_t step = number(-5, 15);
    do {
      const int64_t upper = step + number(1, 6);
      spans.push_back({step, upper});
      step = upper + number(1, 4);
    } while (number(0, 3) == 0);
    return spans;
  }

  std::mt19937_64 random_;
};

bool live_together(const Buffer& a, const Buffer& b) {
  for (const Lifespan& x : a.lifespans)
    for (const Lifespan& y : b.lifespans)
      if (x.lower < y.upper && y.lower < x.upper) return true;
  return false;
}

// The least height, by trying first fit in every order: the order of the offsets of an optimal plan
// is one of them. One pool, no views.
class Optimum {
 public:
  explicit Optimum(const Problem& problem) : buffers_(problem.buffers) {}

  int64_t height() {
    std::vector<size_t> order;
    for (size_t i = 0; i < buffers_.size(); ++i)
      if (!buffers_[i].offset && buffers_[i].size > 0) order.push_back(i);
    int64_t least = std::numeric_limits<int64_t>::max();
    do least = std::min(least, height_of(order));
    while (std::next_permutation(order.begin(), order.end()));
    return least;
  }

 private:
  int64_t height_of(const std::vector<size_t>& order) {
    int64_t height = 0;
    placed_.clear();
    for (size_t i = 0; i < buffers_.size(); ++i)
      if (buffers_[i].offset && buffers_[i].size > 0) placed_.push_back({i, *buffers_[i].offset});
    for (const size_t i : order) {
      int64_t offset = 0;
      while (!is_free(i, offset)) offset += buffers_[i].alignment;
      placed_.push_back({i, offset});
    }
    for (const auto& [i, offset] : placed_) height = std::max(height, offset + buffers_[i].size);
    return height;
  }
  bool is_free(size_t i, int64_t offset) const {
    return std::none_of(placed_.begin(), placed_.end(), [&](const auto& other) {
      const Buffer& b = buffers_[other.first];
      return live_together(buffers_[i], b) && offset < other.second + b.size &&
             other.second < offset + buffers_[i].size;
    });
  }

  const std::vector<Buffer>& buffers_;
  std::vector<std::pair<size_t, int64_t>> placed_;
};

TEST(Solve, RandomProblemsGetValidPlans) {
  int solved = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = RandomProblem(seed).any(2 + static_cast<int>(seed % 30));
    const Result<Plan> plan = solve(problem, only_heuristics());
    // Random required offsets can overlap.
    if (!plan.ok()) {
      EXPECT_EQ(plan.status().code(), StatusCode::kInvalidArgument) << plan.status().message();
      continue;
    }
    if (plan->pools.empty()) continue;
    ++solved;
    const Status status = validate(problem, *plan);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_GE(plan->height, plan->lower_bound);
  }
  EXPECT_GT(solved, 500);
}

TEST(Solve, TinyProblemsRespectTheOptimum) {
  int solved = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = RandomProblem(seed).one_pool(3 + static_cast<int>(seed % 4));
    Options options = only_heuristics();
    const Result<Plan> plan = solve(problem, options);
    if (!plan.ok()) continue;
    ++solved;
    const int64_t optimum = Optimum(problem).height();
    EXPECT_LE(plan->lower_bound, optimum);
    EXPECT_GE(plan->height, optimum);
    if (plan->proof == Proof::kOptimal) EXPECT_EQ(plan->height, optimum);

    options.solver = Solver::kAutomatic;
    options.capacity = optimum - 1;
    const Result<Plan> below = solve(problem, options);
    ASSERT_TRUE(below.ok());
    EXPECT_TRUE(below->pools.empty() || optimum == 0);
    EXPECT_TRUE(below->proof == Proof::kInfeasible || optimum == 0);
    options.capacity = plan->height;
    const Plan within = solve_or_fail(problem, options);
    EXPECT_LE(within.height, plan->height);
    EXPECT_NE(within.proof, Proof::kInfeasible);
  }
  EXPECT_GT(solved, 200);
}

TEST(Solve, NeverHigherThanGreedyBySize) {
  for (const bench::Generator& generator : bench::generators())
    for (const size_t size : {10, 100, 600, 1500})
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(generator.name + " " + std::to_string(size));
        const Problem problem = generator.generate(size, seed);
        const Plan plan = solve_or_fail(problem, {.solver = Solver::kHeuristic});
        EXPECT_LE(plan.height, bench::greedy_by_size_height(problem));
      }
}

TEST(Solve, GeneratedModelsReachTheBound) {
  for (const char* name : {"inference", "shrinking", "training"})
    for (const bench::Generator& generator : bench::generators()) {
      if (generator.name != name) continue;
      SCOPED_TRACE(name);
      const Plan plan = solve_or_fail(generator.generate(3000, 1), {.solver = Solver::kHeuristic});
      EXPECT_LE(static_cast<double>(plan.height), 1.001 * static_cast<double>(plan.lower_bound));
    }
}

TEST(Solve, EqualArgumentsGiveEqualPlans) {
  const Problem problem = bench::random_instance(700, 5);
  const Options options{.time_limit_s = 100, .solver = Solver::kHeuristic};
  EXPECT_EQ(solve_or_fail(problem, options).offsets, solve_or_fail(problem, options).offsets);
}

TEST(Solve, PlanOfNoBuffersIsEmptyAndOptimal) {
  const Plan plan = solve_or_fail({});
  EXPECT_EQ(plan.height, 0);
  EXPECT_EQ(plan.proof, Proof::kOptimal);
}

TEST(Solve, BuffersWithoutBytesNeedNoRoom) {
  Problem problem{{buffer("a", 0, 9, 8), buffer("b", 0, 9, 0), buffer("c", 0, 9, 8)}, {}};
  problem.buffers[1].alignment = 64;
  EXPECT_EQ(solve_or_fail(problem).height, 16);
}

TEST(Solve, LifespansAreHalfOpen) {
  const Problem problem{{buffer("a", 0, 2, 8), buffer("b", 2, 4, 8)}, {}};
  const Plan plan = solve_or_fail(problem);
  EXPECT_EQ(plan.height, 8);
  EXPECT_EQ(plan.proof, Proof::kOptimal);
}

TEST(Solve, BuffersShareMemoryDuringGaps) {
  Problem problem{{buffer("a", 0, 9, 8), buffer("b", 3, 6, 8)}, {}};
  problem.buffers[0].lifespans = {{0, 3}, {6, 9}};
  EXPECT_EQ(solve_or_fail(problem).height, 8);
}

TEST(Solve, ProvesACapacityBelowTheBoundInfeasible) {
  const Problem problem{{buffer("a", 0, 2, 8), buffer("b", 1, 4, 8)}, {}};
  const Result<Plan> plan = solve(problem, {.capacity = 15});
  ASSERT_TRUE(plan.ok());
  EXPECT_TRUE(plan->offsets.empty());
  EXPECT_EQ(plan->proof, Proof::kInfeasible);
  EXPECT_EQ(plan->height, 16);
}

// Without the padding, the bound would be 3 * 10.
TEST(Solve, TheBoundIncludesThePaddingOfACommonAlignment) {
  Problem problem{{buffer("a", 0, 2, 10), buffer("b", 0, 2, 10), buffer("c", 0, 2, 10)}, {}};
  for (Buffer& b : problem.buffers) b.alignment = 16;
  const Plan plan = solve_or_fail(problem);
  EXPECT_EQ(plan.height, 42);
  EXPECT_EQ(plan.proof, Proof::kOptimal);
}

TEST(Solve, PlacesBuffersBelowAndAboveARequiredOffset) {
  Problem problem{{buffer("fixed", 0, 9, 8), buffer("b", 0, 9, 16), buffer("c", 0, 9, 8)}, {}};
  problem.buffers[0].offset = 16;
  const Plan plan = solve_or_fail(problem);
  EXPECT_EQ(plan.offsets[0], 16);
  EXPECT_EQ(plan.height, 32);
}

TEST(Solve, ViewsAreStoredInTheirBase) {
  // A concatenation in place: the operands are views of the result.
  Problem problem{{buffer("result", 4, 9, 64), buffer("left", 0, 5, 32), buffer("right", 2, 5, 32),
                   buffer("other", 0, 9, 16)},
                  {}};
  problem.buffers[1].base = 0;
  problem.buffers[2].base = 0;
  problem.buffers[2].base_offset = 32;
  const Plan plan = solve_or_fail(problem);
  EXPECT_EQ(plan.offsets[1], plan.offsets[0]);
  EXPECT_EQ(plan.offsets[2], plan.offsets[0] + 32);
  EXPECT_EQ(plan.height, 80);
}

TEST(Solve, AViewKeepsItsBaseReserved) {
  // "other" cannot use the second half of "base" although only "view" is live.
  Problem problem{{buffer("base", 4, 9, 64), buffer("view", 0, 2, 8), buffer("other", 0, 2, 32)},
                  {}};
  problem.buffers[1].base = 0;
  EXPECT_EQ(solve_or_fail(problem).height, 96);
}

TEST(Solve, AnAliasOfAnAliasHasTheOffsetOfTheFirst) {
  Problem problem{{buffer("c", 4, 6, 8), buffer("b", 2, 5, 8), buffer("a", 0, 3, 8)}, {}};
  problem.buffers[0].base = 1;
  problem.buffers[1].base = 2;
  EXPECT_EQ(solve_or_fail(problem).height, 8);
}

TEST(Solve, TheBoundOfLiveBytesCountsBases) {
  Problem problem{{buffer("base", 4, 9, 64), buffer("view", 0, 5, 8), buffer("b", 0, 2, 32)}, {}};
  problem.buffers[1].base = 0;
  const Result<int64_t> bound = live_bytes_bound(problem);
  ASSERT_TRUE(bound.ok());
  EXPECT_EQ(*bound, 96);
}

TEST(Solve, StopsAtTheTimeLimit) {
  const Result<Plan> plan = solve(bench::random_instance(20000, 1), {.time_limit_s = 0});
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(plan->offsets.empty());
}

}  // namespace
}  // namespace scopevm::plan

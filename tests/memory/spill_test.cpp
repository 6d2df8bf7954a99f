// Spill choices satisfy the pools' limits. Their cost is at least the lower bound. Without limits
// of other pools, it is close to the optimum that exhaustive search finds.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "compiler/memory/spill/choice.h"

namespace scopevm::compiler::memory {
namespace {

// The cost if no choice satisfies the limits.
constexpr double kNever = std::numeric_limits<double>::infinity();

// --- Evaluation of choices without the planner's code. ------------------------------------------

double cost_of(const SpillProblem& problem, const std::vector<SpillChoice>& choices) {
  double cost = 0;
  for (size_t i = 0; i < choices.size(); ++i) {
    const SpillItem& item = problem.items[i];
    if (choices[i].move) cost += item.moves[*choices[i].move].cost;
    for (size_t v = 0; v < choices[i].values.size(); ++v) {
      const SpillChoice::Value& held = choices[i].values[v];
      if (held.gaps.empty()) continue;
      cost += item.values[v].destinations[held.destination].out_cost;
      cost += item.values[v].destinations[held.destination].back_cost *
              static_cast<double>(held.gaps.size());
    }
  }
  return cost;
}

// Whether the live bytes at each step fit into the limited pool and into the other pools.
bool holds(const SpillProblem& problem, const std::vector<SpillChoice>& choices) {
  for (int64_t step = 0; step < problem.steps; ++step) {
    int64_t here = 0;
    std::map<PoolIndex, int64_t> elsewhere;
    for (size_t i = 0; i < choices.size(); ++i) {
      const SpillItem& item = problem.items[i];
      if (step < item.lower || step >= item.upper) continue;
      bool is_here = !choices[i].move;
      if (!is_here) elsewhere[item.moves[*choices[i].move].pool] += item.bytes;
      for (size_t v = 0; is_here && v < choices[i].values.size(); ++v) {
        const SpillChoice::Value& held = choices[i].values[v];
        if (held.gaps.empty()) continue;
        for (int gap : held.gaps)
          is_here = is_here && !(item.values[v].gaps[gap].lower <= step &&
                                 step < item.values[v].gaps[gap].upper);
        // The spilled copy is live from the step that writes the value to its last reload.
        if (item.values[v].made <= step && step <= item.values[v].gaps[held.gaps.back()].upper)
          elsewhere[item.values[v].destinations[held.destination].pool] += item.bytes;
      }
      if (is_here) here += item.bytes;
    }
    if (here > problem.room) return false;
    for (const auto& [pool, room] : problem.elsewhere)
      if (elsewhere[pool] > room[step]) return false;
  }
  return true;
}

// Enumerates all choices for one item.
std::vector<SpillChoice> all_choices(const SpillItem& item) {
  std::vector<SpillChoice> all(1);
  all[0].values.resize(item.values.size());
  for (size_t v = 0; v < item.values.size(); ++v) {
    std::vector<SpillChoice> more;
    for (const SpillChoice& choice : all)
      for (size_t destination = 0; destination < item.values[v].destinations.size(); ++destination)
        for (uint32_t set = 1; set < 1u << item.values[v].gaps.size(); ++set) {
          SpillChoice& next = more.emplace_back(choice);
          next.values[v].destination = static_cast<int>(destination);
          for (size_t gap = 0; gap < item.values[v].gaps.size(); ++gap)
            if (set >> gap & 1) next.values[v].gaps.push_back(static_cast<int>(gap));
        }
    all.insert(all.end(), more.begin(), more.end());
  }
  for (size_t move = 0; move < item.moves.size(); ++move) {
    SpillChoice& next = all.emplace_back();
    next.move = static_cast<int>(move);
    next.values.resize(item.values.size());
  }
  return all;
}

// Exhaustive search: the lowest cost of all solutions that begin with the choices in `chosen`.
double best_of_all(const SpillProblem& problem, std::vector<SpillChoice>& chosen) {
  if (chosen.size() == problem.items.size())
    return holds(problem, chosen) ? cost_of(problem, chosen) : kNever;
  double best = kNever;
  for (const SpillChoice& choice : all_choices(problem.items[chosen.size()])) {
    chosen.push_back(choice);
    best = std::min(best, best_of_all(problem, chosen));
    chosen.pop_back();
  }
  return best;
}

// --- Problems. ----------------------------------------------------------------------------------

SpillProblem random_problem(uint32_t seed, bool has_limits_elsewhere) {
  std::mt19937 random(seed);
  auto pick = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
  };
  SpillProblem problem;
  problem.steps = 10;
  const int64_t items = pick(2, 4);
  int64_t total = 0;
  for (int64_t i = 0; i < items; ++i) {
    SpillItem& item = problem.items.emplace_back();
    item.bytes = pick(1, 20);
    item.lower = pick(0, 4);
    item.upper = pick(item.lower + 4, 10);
    total += item.bytes;
    if (pick(0, 2) == 0)
      item.moves.push_back({PoolIndex{1}, static_cast<double>(item.bytes * pick(1, 9))});
    SpillItem::Value held{.made = item.lower, .gaps = {}, .destinations = {}};
    const int64_t middle = pick(item.lower + 2, item.upper - 1);
    if (middle > item.lower + 1) held.gaps.push_back({item.lower + 1, middle});
    if (middle + 1 < item.upper - 1) held.gaps.push_back({middle + 1, item.upper - 1});
    for (int64_t destination = pick(1, 2); destination > 0; --destination)
      held.destinations.push_back({{static_cast<uint32_t>(destination)},
                                   static_cast<double>(item.bytes * destination),
                                   static_cast<double>(item.bytes * pick(1, 3))});
    if (!held.gaps.empty() && pick(0, 4) != 0) item.values.push_back(std::move(held));
  }
  problem.room = pick(total / 3, total);
  if (has_limits_elsewhere)
    for (PoolIndex pool : {PoolIndex{1}, PoolIndex{2}})
      problem.elsewhere[pool] = std::vector<int64_t>(problem.steps, pick(5, 40));
  return problem;
}

TEST(SpillChoice, NothingIsSpilledIfEverythingFits) {
  SpillProblem problem{
      .steps = 3, .room = 100, .elsewhere = {}, .items = {{.bytes = 100, .upper = 3}}};
  const SpillSolution solution = choose_spills(problem);
  ASSERT_TRUE(solution.is_found);
  EXPECT_EQ(solution.cost, 0);
  EXPECT_EQ(solution.choices[0].move, std::nullopt);
}

// Two values are unused while the third is live. It is sufficient to spill the smaller one.
TEST(SpillChoice, SpillsTheCheaperOfTwo) {
  SpillItem small{.bytes = 40, .lower = 0, .upper = 5, .moves = {}, .values = {}};
  small.values.push_back({.made = 0, .gaps = {{1, 4}}, .destinations = {{PoolIndex{1}, 40, 40}}});
  SpillItem large = small;
  large.bytes = 60;
  large.values[0].destinations = {{PoolIndex{1}, 60, 60}};
  SpillItem work{.bytes = 50, .lower = 2, .upper = 3, .moves = {}, .values = {}};
  const SpillSolution solution =
      choose_spills({.steps = 5, .room = 110, .elsewhere = {}, .items = {large, small, work}});
  ASSERT_TRUE(solution.is_found);
  EXPECT_EQ(solution.cost, 80);
  EXPECT_EQ(solution.choices[1].values[0].gaps, std::vector<int>({0}));
  EXPECT_TRUE(solution.choices[0].values[0].gaps.empty());
}

TEST(SpillChoice, ReportsTheWorstStepIfNothingFits) {
  SpillItem stays{.bytes = 70, .lower = 1, .upper = 3, .moves = {}, .values = {}};
  SpillItem other = stays;
  other.lower = 2;
  const SpillSolution solution =
      choose_spills({.steps = 4, .room = 100, .elsewhere = {}, .items = {stays, other}});
  EXPECT_FALSE(solution.is_found);
  EXPECT_EQ(solution.worst_step, 2);
}

TEST(SpillChoice, CloseToTheOptimumAndNotBelowTheBound) {
  int solved = 0, best = 0;
  double worst = 1;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const SpillProblem problem = random_problem(seed, false);
    const SpillSolution solution = choose_spills(problem);
    std::vector<SpillChoice> chosen;
    const double optimum = best_of_all(problem, chosen);
    ASSERT_EQ(solution.is_found, optimum != kNever) << seed;
    if (!solution.is_found) continue;
    ++solved;
    ASSERT_TRUE(holds(problem, solution.choices)) << seed;
    ASSERT_DOUBLE_EQ(cost_of(problem, solution.choices), solution.cost) << seed;
    ASSERT_LE(solution.lower_bound, optimum * (1 + 1e-9)) << seed;
    if (solution.cost <= optimum * (1 + 1e-9)) ++best;
    if (optimum > 0) worst = std::max(worst, solution.cost / optimum);
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GT(solved, 1000);
  EXPECT_GT(best, solved * 95 / 100) << best << " of " << solved << ", worst " << worst;
  EXPECT_LE(worst, 1.5);
}

// Solutions also satisfy the limits of the other pools. With such limits, choose_spills() may miss
// a few solutions.
TEST(SpillChoice, RespectsTheLimitsOfOtherPools) {
  int solved = 0, missed = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const SpillProblem problem = random_problem(seed, true);
    const SpillSolution solution = choose_spills(problem);
    std::vector<SpillChoice> chosen;
    const double optimum = best_of_all(problem, chosen);
    if (solution.is_found) {
      ++solved;
      ASSERT_TRUE(holds(problem, solution.choices)) << seed;
      ASSERT_GE(solution.cost, optimum * (1 - 1e-9)) << seed;
    } else if (optimum != kNever) {
      ++missed;
    }
  }
  EXPECT_GT(solved, 500);
  EXPECT_LE(missed, solved * 3 / 100) << missed << " of " << solved;
}

}  // namespace
}  // namespace scopevm::compiler::memory

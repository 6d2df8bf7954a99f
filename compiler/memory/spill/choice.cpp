// Lagrangian relaxation of the spill problem, and local search; see the header.
#include "compiler/memory/spill/choice.h"

#include <algorithm>
#include <limits>

#include "compiler/memory/spill/trial.h"

namespace scopevm::compiler::memory {
namespace {

constexpr int kRounds = 240;            // iterations of the subgradient method
constexpr int kRoundsPerTrial = 12;     // iterations between greedy completions
constexpr int kRoundsPerExchange = 80;  // iterations between exchanges
constexpr double kCloseEnough = 1e-6;   // relative distance to the lower bound at which to stop

// The Lagrange multipliers.
class Prices {
 public:
  explicit Prices(const SpillProblem& problem) : problem_(problem), price_(problem.steps, 0) {
    Trial nothing(problem);
    need_ = nothing.excess();
  }

  // Computes each item's cheapest choice at the current prices. Returns the lower bound.
  double solve(std::vector<SpillChoice>& choices) {
    double bound = 0;
    for (int64_t s = 0; s < problem_.steps; ++s) bound += price_[s] * static_cast<double>(need_[s]);
    choices.clear();
    for (const SpillItem& item : problem_.items) bound += cheapest(item, choices.emplace_back());
    return bound;
  }

  // A subgradient step of Polyak's length, scaled by `length`: prices rise at steps where too few
  // bytes are spilled, and fall where too many are. `towards` is the cost of the best solution, or
  // an estimate if none is known.
  void change(const std::vector<SpillChoice>& choices, double towards, double bound,
              double length) {
    std::vector<double> gradient(problem_.steps);
    for (int64_t s = 0; s < problem_.steps; ++s) gradient[s] = static_cast<double>(need_[s]);
    for (size_t i = 0; i < choices.size(); ++i)
      for (int64_t s = problem_.items[i].lower; s < problem_.items[i].upper; ++s)
        if (is_spilled_at(problem_.items[i], choices[i], s))
          gradient[s] -= useful(problem_.items[i], s);
    double square = 0;
    for (int64_t s = 0; s < problem_.steps; ++s) {
      // The projection onto nonnegative prices cancels these components, so they must not count in
      // the length of the step either.
      if (gradient[s] < 0 && price_[s] == 0) gradient[s] = 0;
      square += gradient[s] * gradient[s];
    }
    if (square == 0) return;
    const double factor = length * (towards - bound) / square;
    for (int64_t s = 0; s < problem_.steps; ++s)
      price_[s] = std::max(0.0, price_[s] + factor * gradient[s]);
  }

 private:
  // Coefficient tightening: an item covers at most the excess of a step. Integral solutions are the
  // same, and the relaxation is tighter.
  double useful(const SpillItem& item, int64_t step) const {
    return static_cast<double>(std::clamp<int64_t>(need_[step], 0, item.bytes));
  }

  // The price of the bytes that the item covers in steps [lower, upper).
  double paid(const SpillItem& item, int64_t lower, int64_t upper) const {
    double sum = 0;
    for (int64_t step = lower; step < upper; ++step)
      if (price_[step] > 0) sum += price_[step] * useful(item, step);
    return sum;
  }

  double cheapest(const SpillItem& item, SpillChoice& choice) const {
    choice.values.resize(item.values.size());
    double best = 0;
    for (size_t v = 0; v < item.values.size(); ++v) {
      double least_cost = 0;
      for (size_t w = 0; w < item.values[v].destinations.size(); ++w) {
        const SpillItem::Destination& destination = item.values[v].destinations[w];
        SpillChoice::Value held{static_cast<int>(w), {}};
        double total = destination.out_cost;
        for (size_t g = 0; g < item.values[v].gaps.size(); ++g) {
          const SpillItem::Gap& gap = item.values[v].gaps[g];
          // The gaps of a value are disjoint, so their choices are independent once the copy out is
          // paid. A gap is used if the price of its bytes exceeds the copy back.
          const double added_cost = destination.back_cost - paid(item, gap.lower, gap.upper);
          if (added_cost >= 0) continue;
          total += added_cost;
          held.gaps.push_back(static_cast<int>(g));
        }
        // `least_cost` starts at 0, the cost of no spill: a destination is chosen only if it pays.
        if (total >= least_cost) continue;
        least_cost = total;
        choice.values[v] = std::move(held);
      }
      best += least_cost;
    }
    for (size_t m = 0; m < item.moves.size(); ++m) {
      const double total = item.moves[m].cost - paid(item, item.lower, item.upper);
      if (total >= best) continue;
      best = total;
      choice.move = static_cast<int>(m);
    }
    // A moved buffer has no bytes in the pool, so its values cannot be spilled in addition.
    if (choice.move) choice.values.assign(item.values.size(), {});
    return best;
  }

  const SpillProblem& problem_;
  std::vector<double> price_;  // of a spilled byte, by step
  std::vector<int64_t> need_;  // excess bytes, by step; negative where there is room
};

void keep_if_cheaper(const Trial& trial, SpillSolution& best) {
  if (best.is_found && trial.cost() >= best.cost) return;
  best.is_found = true;
  best.cost = trial.cost();
  best.choices = trial.choices();
}

// Local search: forbids each item whose choice has a cost, one at a time. Completes the remaining
// choices, and keeps the result if it is cheaper.
void exchange(const SpillProblem& problem, SpillSolution& best) {
  for (size_t i = 0; i < problem.items.size(); ++i) {
    if (Trial::cost_of(problem.items[i], best.choices[i]) == 0) continue;
    Trial trial(problem);
    for (size_t other = 0; other < problem.items.size(); ++other)
      if (other != i) trial.set(other, best.choices[other]);
    if (!complete(problem, trial, i)) continue;
    thin_out(problem, trial);
    keep_if_cheaper(trial, best);
  }
}

// Completes `choices`; keeps the result if it is the cheapest so far.
void try_choices(const SpillProblem& problem, const std::vector<SpillChoice>& choices,
                 SpillSolution& best) {
  Trial trial(problem);
  for (size_t i = 0; i < choices.size(); ++i) trial.set(i, choices[i]);
  if (!complete(problem, trial)) {
    // Only the first failure is reported. The first call starts without choices, so this is a
    // failure of the greedy method alone.
    if (!best.worst_step) best.worst_step = trial.worst_step();
    return;
  }
  thin_out(problem, trial);
  keep_if_cheaper(trial, best);
}

// --- Bound by a single step. --------------------------------------------------------------------

// The least cost of freeing `need` bytes at one step, with each item's cheapest choice. This is a
// minimum knapsack problem. It is solved by branch and bound with the fractional relaxation as
// bound. The value is 0 if the search exceeds its node limit, or if the items have too few bytes.
class StepBound {
 public:
  StepBound(const SpillProblem& problem, int64_t step, int64_t need) {
    for (const SpillItem& item : problem.items)
      if (const double cost = cheapest_at(item, step); cost < kNever)
        // Bytes beyond the need do not count, as in Prices::useful().
        candidates_.push_back({std::min(item.bytes, need), cost});
    std::ranges::sort(candidates_, {}, [](const Candidate& candidate) {
      return candidate.cost / static_cast<double>(candidate.bytes);
    });
    search(0, need, 0);
  }
  double value() const { return nodes_ < kMostNodes && best_ < kNever ? best_ : 0; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr int kMostNodes = 20000;
  struct Candidate {
    int64_t bytes;
    double cost;
  };

  static double cheapest_at(const SpillItem& item, int64_t step) {
    double cost = kNever;
    if (item.bytes == 0 || step < item.lower || step >= item.upper) return cost;
    for (const SpillItem::Move& move : item.moves) cost = std::min(cost, move.cost);
    for (const SpillItem::Value& held : item.values)
      for (const SpillItem::Gap& gap : held.gaps)
        if (gap.lower <= step && step < gap.upper)
          for (const SpillItem::Destination& destination : held.destinations)
            cost = std::min(cost, destination.out_cost + destination.back_cost);
    return cost;
  }

  // The fractional relaxation: the least cost of `need` bytes with fractions of the items from `i`
  // on, which are sorted by cost per byte.
  double relaxed(size_t i, int64_t need) const {
    double cost = 0;
    for (; i < candidates_.size() && need > 0; ++i) {
      const double part =
          std::min(1.0, static_cast<double>(need) / static_cast<double>(candidates_[i].bytes));
      cost += part * candidates_[i].cost;
      need -= candidates_[i].bytes;
    }
    return need > 0 ? kNever : cost;
  }

  void search(size_t i, int64_t need, double cost) {
    if (need <= 0) best_ = std::min(best_, cost);
    if (need <= 0 || i == candidates_.size() || ++nodes_ >= kMostNodes) return;
    // Dantzig's bound (1957).
    if (cost + relaxed(i, need) >= best_) return;
    // The branch that takes the cheapest item per byte comes first: it finds a good solution early,
    // and the cost of that solution prunes other branches.
    search(i + 1, need - candidates_[i].bytes, cost + candidates_[i].cost);
    search(i + 1, need, cost);
  }

  std::vector<Candidate> candidates_;
  double best_ = kNever;
  int nodes_ = 0;
};

double bound_of_steps(const SpillProblem& problem) {
  double bound = 0;
  const Trial nothing(problem);
  const std::vector<int64_t>& need = nothing.excess();
  for (int64_t step = 0; step < problem.steps; ++step)
    if (need[step] > 0) bound = std::max(bound, StepBound(problem, step, need[step]).value());
  return bound;
}

SpillChoice everything(const SpillItem& item) {
  SpillChoice choice;
  for (const SpillItem::Value& held : item.values) {
    choice.values.push_back({0, {}});
    for (size_t gap = 0; gap < held.gaps.size(); ++gap)
      choice.values.back().gaps.push_back(static_cast<int>(gap));
  }
  return choice;
}

// Whether a solution exists if the room in other pools is ignored.
bool can_be_covered(SpillProblem problem) {
  // With unlimited room, moving or spilling everything covers the most. If that fails, every choice
  // fails.
  problem.elsewhere.clear();
  Trial trial(problem);
  for (size_t i = 0; i < problem.items.size(); ++i) {
    SpillChoice choice = everything(problem.items[i]);
    if (!problem.items[i].moves.empty()) choice.move = 0;
    trial.set(i, choice);
  }
  return trial.is_done();
}

// An estimate of the cost of the most expensive choice: the most expensive move, or spilling each
// value in all gaps to its first destination.
double largest_cost(const SpillItem& item) {
  double most = Trial::cost_of(item, everything(item));
  for (const SpillItem::Move& move : item.moves) most = std::max(most, move.cost);
  return most;
}

}  // namespace

SpillSolution choose_spills(const SpillProblem& problem) {
  SpillSolution best;
  // The greedy solution alone. It ends the search if its cost is 0. Otherwise its cost is the
  // target of the first subgradient steps.
  try_choices(problem, {}, best);
  if ((best.is_found && best.cost == 0) || !can_be_covered(problem)) return best;
  best.lower_bound = bound_of_steps(problem);
  Prices prices(problem);
  std::vector<SpillChoice> choices;
  double length = 1, all = 0;
  for (const SpillItem& item : problem.items) all += largest_cost(item);
  int rounds_without_gain = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double bound = prices.solve(choices);
    rounds_without_gain = bound > best.lower_bound ? 0 : rounds_without_gain + 1;
    best.lower_bound = std::max(best.lower_bound, bound);
    if (round % kRoundsPerTrial == 0) try_choices(problem, choices, best);
    if (best.is_found && best.cost - best.lower_bound <= kCloseEnough * best.cost) break;
    // Halving the step length when the bound stalls is the customary rule for Polyak steps (Held,
    // Wolfe and Crowder, 1974).
    if (rounds_without_gain == 6) {
      length /= 2;
      rounds_without_gain = 0;
    }
    if (round % kRoundsPerExchange == 0 && best.is_found) exchange(problem, best);
    // Polyak's rule needs the optimal value; an upper bound replaces it. If no solution is known,
    // twice the estimated cost of spilling everything replaces it.
    prices.change(choices, best.is_found ? best.cost : 2 * all, bound, length);
  }
  return best;
}

}  // namespace scopevm::compiler::memory

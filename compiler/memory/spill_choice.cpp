// Prices and choices; see the header.
#include "compiler/memory/spill_choice.h"

#include <algorithm>
#include <limits>

namespace scopevm::memory {
namespace {

constexpr int kRounds = 240;         // of the subgradient method
constexpr int kRoundsPerTrial = 12;  // how often the choices at hand are completed
constexpr double kCloseEnough = 1e-6;

// A state between nothing chosen and a solution: what is gone at each step, and what it costs.
class Trial {
 public:
  explicit Trial(const SpillProblem& problem)
      : problem_(problem), excess_(problem.steps, -problem.room), elsewhere_(problem.elsewhere) {
    for (const SpillItem& item : problem.items) {
      shift(excess_, item.lower, item.upper, item.bytes);
      SpillChoice& choice = choices_.emplace_back();
      choice.values.resize(item.values.size());
    }
  }

  const std::vector<int64_t>& excess() const { return excess_; }
  const std::vector<SpillChoice>& choices() const { return choices_; }
  double cost() const { return cost_; }
  int64_t worst_step() const { return std::ranges::max_element(excess_) - excess_.begin(); }
  bool is_done() const { return excess_.empty() || *std::ranges::max_element(excess_) <= 0; }

  // Cost of one item's choice.
  static double cost_of(const SpillItem& item, const SpillChoice& choice) {
    if (choice.move >= 0) return item.moves[choice.move].cost;
    double cost = 0;
    for (size_t v = 0; v < choice.values.size(); ++v) {
      const SpillChoice::Held& held = choice.values[v];
      if (held.gaps.empty()) continue;
      const SpillItem::Way& way = item.values[v].ways[held.way];
      cost += way.out_cost;
      for (int gap : held.gaps) cost += way.back_cost * item.values[v].gaps[gap].times;
    }
    return cost;
  }

  // Makes `choice` that of item i. False, and nothing changes, where another pool has no room.
  bool set(size_t i, const SpillChoice& choice) {
    const SpillItem& item = problem_.items[i];
    SpillChoice before = choices_[i];
    apply(item, before, -1);
    apply(item, choice, 1);
    if (has_room(item, choice)) {
      choices_[i] = choice;
      return true;
    }
    apply(item, choice, -1);
    apply(item, before, 1);
    return false;
  }

 private:
  static void shift(std::vector<int64_t>& bytes, int64_t lower, int64_t upper, int64_t by) {
    for (int64_t step = lower; step < upper; ++step) bytes[step] += by;
  }

  // Steps in which the item takes room elsewhere, by pool.
  template <typename Visit>
  static void visit_elsewhere(const SpillItem& item, const SpillChoice& choice, Visit visit) {
    if (choice.move >= 0) return visit(item.moves[choice.move].pool, item.lower, item.upper);
    for (size_t v = 0; v < choice.values.size(); ++v) {
      const SpillChoice::Held& held = choice.values[v];
      if (held.gaps.empty()) continue;
      visit(item.values[v].ways[held.way].pool, item.values[v].made,
            item.values[v].gaps[held.gaps.back()].upper + 1);
    }
  }

  void apply(const SpillItem& item, const SpillChoice& choice, int sign) {
    cost_ += sign * cost_of(item, choice);
    if (choice.move >= 0) shift(excess_, item.lower, item.upper, -sign * item.bytes);
    if (choice.move < 0)
      for (size_t v = 0; v < choice.values.size(); ++v)
        for (int gap : choice.values[v].gaps)
          shift(excess_, item.values[v].gaps[gap].lower, item.values[v].gaps[gap].upper,
                -sign * item.bytes);
    visit_elsewhere(item, choice, [&](int pool, int64_t lower, int64_t upper) {
      if (auto room = elsewhere_.find(pool); room != elsewhere_.end())
        shift(room->second, lower, std::min(upper, problem_.steps), -sign * item.bytes);
    });
  }

  bool has_room(const SpillItem& item, const SpillChoice& choice) const {
    bool has_room = true;
    visit_elsewhere(item, choice, [&](int pool, int64_t lower, int64_t upper) {
      auto room = elsewhere_.find(pool);
      if (room == elsewhere_.end()) return;
      for (int64_t step = lower; step < std::min(upper, problem_.steps); ++step)
        has_room = has_room && room->second[step] >= 0;
    });
    return has_room;
  }

  const SpillProblem& problem_;
  std::vector<int64_t> excess_;  // bytes too much, by step
  std::map<int, std::vector<int64_t>> elsewhere_;
  std::vector<SpillChoice> choices_;
  double cost_ = 0;
};

// All choices for an item that differ from `now` by one move or one gap more.
std::vector<SpillChoice> next_choices(const SpillItem& item, const SpillChoice& now) {
  std::vector<SpillChoice> next;
  for (size_t m = 0; m < item.moves.size(); ++m) {
    if (now.move >= 0) continue;
    SpillChoice& choice = next.emplace_back();
    choice.move = static_cast<int>(m);
    choice.values.resize(item.values.size());
  }
  if (now.move >= 0) return next;
  for (size_t v = 0; v < item.values.size(); ++v)
    for (size_t w = 0; w < item.values[v].ways.size(); ++w) {
      const SpillChoice::Held& held = now.values[v];
      if (!held.gaps.empty() && held.way != static_cast<int>(w)) continue;
      for (size_t g = 0; g < item.values[v].gaps.size(); ++g) {
        const int gap = static_cast<int>(g);
        if (std::ranges::find(held.gaps, gap) != held.gaps.end()) continue;
        SpillChoice& choice = next.emplace_back(now);
        choice.values[v].way = static_cast<int>(w);
        choice.values[v].gaps.push_back(gap);
        std::ranges::sort(choice.values[v].gaps);
      }
    }
  return next;
}

bool is_gone(const SpillItem& item, const SpillChoice& choice, int64_t step) {
  if (choice.move >= 0) return item.lower <= step && step < item.upper;
  for (size_t v = 0; v < choice.values.size(); ++v)
    for (int gap : choice.values[v].gaps)
      if (item.values[v].gaps[gap].lower <= step && step < item.values[v].gaps[gap].upper)
        return true;
  return false;
}

// Until nothing is too much: of what frees the worst step, the choice with the least cost for the
// bytes that it takes off all steps. False if there is none.
bool complete(const SpillProblem& problem, Trial& trial) {
  while (!trial.is_done()) {
    const int64_t worst = trial.worst_step();
    std::vector<std::tuple<double, size_t, SpillChoice>> found;
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const SpillItem& item = problem.items[i];
      const SpillChoice& now = trial.choices()[i];
      if (worst < item.lower || worst >= item.upper || is_gone(item, now, worst)) continue;
      for (SpillChoice& choice : next_choices(item, now)) {
        if (!is_gone(item, choice, worst)) continue;
        double useful = 0;
        for (int64_t step = item.lower; step < item.upper; ++step)
          if (trial.excess()[step] > 0 && is_gone(item, choice, step) && !is_gone(item, now, step))
            useful += static_cast<double>(std::min(trial.excess()[step], item.bytes));
        const double extra = Trial::cost_of(item, choice) - Trial::cost_of(item, now);
        found.emplace_back(extra / useful, i, std::move(choice));
      }
    }
    std::ranges::stable_sort(found, {}, [](const auto& entry) { return std::get<0>(entry); });
    const bool is_set = std::ranges::any_of(found, [&](const auto& entry) {
      return trial.set(std::get<1>(entry), std::get<2>(entry));
    });
    if (!is_set) return false;
  }
  return true;
}

// Takes back what is not needed, the dearest first.
void thin_out(const SpillProblem& problem, Trial& trial) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < problem.items.size(); ++i)
    if (double cost = Trial::cost_of(problem.items[i], trial.choices()[i]); cost > 0)
      order.emplace_back(-cost, i);
  std::ranges::sort(order);
  for (const auto& [cost, i] : order) {
    const SpillChoice now = trial.choices()[i];
    SpillChoice none;
    none.values.resize(now.values.size());
    trial.set(i, none);
    if (trial.is_done()) continue;
    trial.set(i, now);
    for (size_t v = 0; v < now.values.size(); ++v)
      for (size_t g = now.values[v].gaps.size(); g-- > 0;) {
        const SpillChoice all = trial.choices()[i];
        SpillChoice fewer = all;
        fewer.values[v].gaps.erase(fewer.values[v].gaps.begin() + static_cast<int64_t>(g));
        trial.set(i, fewer);
        if (!trial.is_done()) trial.set(i, all);
      }
  }
}

class Prices {
 public:
  explicit Prices(const SpillProblem& problem) : problem_(problem), price_(problem.steps, 0) {
    Trial nothing(problem);
    need_ = nothing.excess();
  }

  // Each item's cheapest choice, paid for the bytes that it frees. Returns the bound.
  double solve(std::vector<SpillChoice>& choices) {
    double bound = 0;
    for (int64_t s = 0; s < problem_.steps; ++s) bound += price_[s] * static_cast<double>(need_[s]);
    choices.clear();
    for (const SpillItem& item : problem_.items) bound += cheapest(item, choices.emplace_back());
    return bound;
  }

  // Prices rise where too little is gone and fall where too much is.
  void change(const std::vector<SpillChoice>& choices, double towards, double bound,
              double length) {
    std::vector<double> gradient(problem_.steps);
    for (int64_t s = 0; s < problem_.steps; ++s) gradient[s] = static_cast<double>(need_[s]);
    for (size_t i = 0; i < choices.size(); ++i)
      for (int64_t s = problem_.items[i].lower; s < problem_.items[i].upper; ++s)
        if (is_gone(problem_.items[i], choices[i], s)) gradient[s] -= useful(problem_.items[i], s);
    double square = 0;
    for (int64_t s = 0; s < problem_.steps; ++s) {
      if (gradient[s] < 0 && price_[s] == 0) gradient[s] = 0;  // it can fall no further
      square += gradient[s] * gradient[s];
    }
    if (square == 0) return;
    const double factor = length * (towards - bound) / square;
    for (int64_t s = 0; s < problem_.steps; ++s)
      price_[s] = std::max(0.0, price_[s] + factor * gradient[s]);
  }

 private:
  // No item helps a step by more than it needs. Said so, the condition is as strict for whole items
  // and stricter for parts of them, and the bound is better.
  double useful(const SpillItem& item, int64_t step) const {
    return static_cast<double>(std::clamp<int64_t>(need_[step], 0, item.bytes));
  }

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
      double best_way = 0;
      for (size_t w = 0; w < item.values[v].ways.size(); ++w) {
        const SpillItem::Way& way = item.values[v].ways[w];
        SpillChoice::Held held{static_cast<int>(w), {}};
        double total = way.out_cost;
        for (size_t g = 0; g < item.values[v].gaps.size(); ++g) {
          const SpillItem::Gap& gap = item.values[v].gaps[g];
          const double gain = way.back_cost * gap.times - paid(item, gap.lower, gap.upper);
          if (gain >= 0) continue;
          total += gain;
          held.gaps.push_back(static_cast<int>(g));
        }
        if (total >= best_way) continue;
        best_way = total;
        choice.values[v] = std::move(held);
      }
      best += best_way;
    }
    for (size_t m = 0; m < item.moves.size(); ++m) {
      const double total = item.moves[m].cost - paid(item, item.lower, item.upper);
      if (total >= best) continue;
      best = total;
      choice.move = static_cast<int>(m);
    }
    if (choice.move >= 0) choice.values.assign(item.values.size(), {});
    return best;
  }

  const SpillProblem& problem_;
  std::vector<double> price_;  // of a byte gone, by step
  std::vector<int64_t> need_;  // bytes too much, by step
};

// Completes `choices`; keeps the result if it is the cheapest so far.
void try_choices(const SpillProblem& problem, const std::vector<SpillChoice>& choices,
                 SpillSolution& best) {
  Trial trial(problem);
  for (size_t i = 0; i < choices.size(); ++i) trial.set(i, choices[i]);
  if (!complete(problem, trial)) {
    if (best.worst_step < 0) best.worst_step = trial.worst_step();
    return;
  }
  thin_out(problem, trial);
  if (best.is_found && trial.cost() >= best.cost) return;
  best.is_found = true;
  best.cost = trial.cost();
  best.choices = trial.choices();
}

// --- One step by itself. ------------------------------------------------------------------------

// The least that it costs to free `need` bytes at one step, each item by its cheapest way: exact,
// by branch and bound, where few items live there.
class StepBound {
 public:
  StepBound(const SpillProblem& problem, int64_t step, int64_t need) {
    for (const SpillItem& item : problem.items)
      if (const double cost = cheapest_at(item, step); cost < kNever)
        ways_.push_back({std::min(item.bytes, need), cost});
    std::ranges::sort(ways_, {},
                      [](const Way& way) { return way.cost / static_cast<double>(way.bytes); });
    search(0, need, 0);
  }
  double value() const { return nodes_ < kMostNodes && best_ < kNever ? best_ : 0; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr int kMostNodes = 20000;
  struct Way {
    int64_t bytes;
    double cost;
  };

  static double cheapest_at(const SpillItem& item, int64_t step) {
    double cost = kNever;
    if (item.bytes == 0 || step < item.lower || step >= item.upper) return cost;
    for (const SpillItem::Move& move : item.moves) cost = std::min(cost, move.cost);
    for (const SpillItem::Held& held : item.values)
      for (const SpillItem::Gap& gap : held.gaps)
        if (gap.lower <= step && step < gap.upper)
          for (const SpillItem::Way& way : held.ways)
            cost = std::min(cost, way.out_cost + way.back_cost * gap.times);
    return cost;
  }

  // What `need` costs at least with parts of the ways from `i` on.
  double relaxed(size_t i, int64_t need) const {
    double cost = 0;
    for (; i < ways_.size() && need > 0; ++i) {
      const double part =
          std::min(1.0, static_cast<double>(need) / static_cast<double>(ways_[i].bytes));
      cost += part * ways_[i].cost;
      need -= ways_[i].bytes;
    }
    return need > 0 ? kNever : cost;
  }

  void search(size_t i, int64_t need, double cost) {
    if (need <= 0) best_ = std::min(best_, cost);
    if (need <= 0 || i == ways_.size() || ++nodes_ >= kMostNodes) return;
    if (cost + relaxed(i, need) >= best_) return;
    search(i + 1, need - ways_[i].bytes, cost + ways_[i].cost);
    search(i + 1, need, cost);
  }

  std::vector<Way> ways_;
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
  for (const SpillItem::Held& held : item.values) {
    choice.values.push_back({0, {}});
    for (size_t gap = 0; gap < held.gaps.size(); ++gap)
      choice.values.back().gaps.push_back(static_cast<int>(gap));
  }
  return choice;
}

// True when what is too much could leave, had other pools room for it.
bool can_be_covered(SpillProblem problem) {
  problem.elsewhere.clear();
  Trial trial(problem);
  for (size_t i = 0; i < problem.items.size(); ++i) {
    SpillChoice choice = everything(problem.items[i]);
    if (!problem.items[i].moves.empty()) choice.move = 0;
    trial.set(i, choice);
  }
  return trial.is_done();
}

double dearest(const SpillItem& item) {
  double most = Trial::cost_of(item, everything(item));
  for (const SpillItem::Move& move : item.moves) most = std::max(most, move.cost);
  return most;
}

}  // namespace

SpillSolution choose_spills(const SpillProblem& problem) {
  SpillSolution best;
  try_choices(problem, {}, best);
  if ((best.is_found && best.cost == 0) || !can_be_covered(problem)) return best;
  best.lower_bound = bound_of_steps(problem);
  Prices prices(problem);
  std::vector<SpillChoice> choices;
  double length = 1, all = 0;
  for (const SpillItem& item : problem.items) all += dearest(item);
  int rounds_without_gain = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double bound = prices.solve(choices);
    rounds_without_gain = bound > best.lower_bound ? 0 : rounds_without_gain + 1;
    best.lower_bound = std::max(best.lower_bound, bound);
    if (round % kRoundsPerTrial == 0) try_choices(problem, choices, best);
    if (best.is_found && best.cost - best.lower_bound <= kCloseEnough * best.cost) break;
    if (rounds_without_gain == 6) {
      length /= 2;
      rounds_without_gain = 0;
    }
    prices.change(choices, best.is_found ? best.cost : 2 * all, bound, length);
  }
  return best;
}

}  // namespace scopevm::memory

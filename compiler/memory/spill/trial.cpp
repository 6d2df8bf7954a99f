// Partial solutions and their greedy completion; see the header.
#include "compiler/memory/spill/trial.h"

#include <algorithm>
#include <tuple>

namespace scopevm::compiler::memory {
namespace {

void shift(std::vector<int64_t>& bytes, int64_t lower, int64_t upper, int64_t by) {
  for (int64_t step = lower; step < upper; ++step) bytes[step] += by;
}

// Visits the intervals of steps in which the item occupies room in another pool.
template <typename Visit>
void visit_elsewhere(const SpillItem& item, const SpillChoice& choice, Visit visit) {
  if (choice.move) return visit(item.moves[*choice.move].pool, item.lower, item.upper);
  for (size_t v = 0; v < choice.values.size(); ++v) {
    const SpillChoice::Value& held = choice.values[v];
    if (held.gaps.empty()) continue;
    visit(item.values[v].destinations[held.destination].pool, item.values[v].made,
          // The copy stays until the last reload, which is inserted before step `upper`, has read
          // it.
          item.values[v].gaps[held.gaps.back()].upper + 1);
  }
}

// All choices for an item that replace `now` by a move, or add one gap to it; none if `now` is a
// move.
std::vector<SpillChoice> next_choices(const SpillItem& item, const SpillChoice& now) {
  std::vector<SpillChoice> next;
  if (now.move) return next;
  for (size_t m = 0; m < item.moves.size(); ++m) {
    SpillChoice& choice = next.emplace_back();
    choice.move = static_cast<int>(m);
    choice.values.resize(item.values.size());
  }
  for (size_t v = 0; v < item.values.size(); ++v)
    for (size_t w = 0; w < item.values[v].destinations.size(); ++w) {
      const SpillChoice::Value& held = now.values[v];
      // All gaps of a value share one copy, so the first one fixes the destination.
      if (!held.gaps.empty() && held.destination != static_cast<int>(w)) continue;
      for (size_t g = 0; g < item.values[v].gaps.size(); ++g) {
        const int gap = static_cast<int>(g);
        if (std::ranges::find(held.gaps, gap) != held.gaps.end()) continue;
        SpillChoice& choice = next.emplace_back(now);
        choice.values[v].destination = static_cast<int>(w);
        choice.values[v].gaps.push_back(gap);
        std::ranges::sort(choice.values[v].gaps);
      }
    }
  return next;
}

}  // namespace

Trial::Trial(const SpillProblem& problem)
    : problem_(problem), excess_(problem.steps, -problem.room), elsewhere_(problem.elsewhere) {
  for (const SpillItem& item : problem.items) {
    shift(excess_, item.lower, item.upper, item.bytes);
    choices_.emplace_back().values.resize(item.values.size());
  }
}

int64_t Trial::worst_step() const { return std::ranges::max_element(excess_) - excess_.begin(); }

bool Trial::is_done() const {
  return std::ranges::all_of(excess_, [](int64_t bytes) { return bytes <= 0; });
}

double Trial::cost_of(const SpillItem& item, const SpillChoice& choice) {
  if (choice.move) return item.moves[*choice.move].cost;
  double cost = 0;
  for (size_t v = 0; v < choice.values.size(); ++v) {
    const SpillChoice::Value& held = choice.values[v];
    if (held.gaps.empty()) continue;
    const SpillItem::Destination& destination = item.values[v].destinations[held.destination];
    cost += destination.out_cost + destination.back_cost * static_cast<double>(held.gaps.size());
  }
  return cost;
}

bool Trial::set(size_t i, const SpillChoice& choice) {
  const SpillItem& item = problem_.items[i];
  // The old choice is withdrawn before the room is tested, because the new choice may need the room
  // that the old one occupies in another pool.
  const SpillChoice before = choices_[i];
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

void Trial::apply(const SpillItem& item, const SpillChoice& choice, int sign) {
  cost_ += sign * cost_of(item, choice);
  const int64_t freed = sign * item.bytes;
  if (choice.move) shift(excess_, item.lower, item.upper, -freed);
  for (size_t v = 0; !choice.move && v < choice.values.size(); ++v)
    for (int gap : choice.values[v].gaps)
      shift(excess_, item.values[v].gaps[gap].lower, item.values[v].gaps[gap].upper, -freed);
  visit_elsewhere(item, choice, [&](PoolIndex pool, int64_t lower, int64_t upper) {
    if (auto room = elsewhere_.find(pool); room != elsewhere_.end())
      shift(room->second, lower, std::min(upper, problem_.steps), -freed);
  });
}

bool Trial::has_room(const SpillItem& item, const SpillChoice& choice) const {
  bool has_room = true;
  visit_elsewhere(item, choice, [&](PoolIndex pool, int64_t lower, int64_t upper) {
    auto room = elsewhere_.find(pool);
    if (room == elsewhere_.end()) return;
    for (int64_t step = lower; step < std::min(upper, problem_.steps); ++step)
      has_room = has_room && room->second[step] >= 0;
  });
  return has_room;
}

bool is_spilled_at(const SpillItem& item, const SpillChoice& choice, int64_t step) {
  if (choice.move) return item.lower <= step && step < item.upper;
  for (size_t v = 0; v < choice.values.size(); ++v)
    for (int gap : choice.values[v].gaps)
      if (item.values[v].gaps[gap].lower <= step && step < item.values[v].gaps[gap].upper)
        return true;
  return false;
}

bool complete(const SpillProblem& problem, Trial& trial, size_t banned) {
  while (!trial.is_done()) {
    const int64_t worst = trial.worst_step();
    std::vector<std::tuple<double, size_t, SpillChoice>> found;
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const SpillItem& item = problem.items[i];
      const SpillChoice& now = trial.choices()[i];
      if (i == banned || worst < item.lower || worst >= item.upper ||
          is_spilled_at(item, now, worst))
        continue;
      for (SpillChoice& choice : next_choices(item, now)) {
        if (!is_spilled_at(item, choice, worst)) continue;
        double useful = 0;  // covered bytes; bytes beyond the excess of a step do not count
        for (int64_t step = item.lower; step < item.upper; ++step)
          if (trial.excess()[step] > 0 && is_spilled_at(item, choice, step) &&
              !is_spilled_at(item, now, step))
            useful += static_cast<double>(std::min(trial.excess()[step], item.bytes));
        const double extra = Trial::cost_of(item, choice) - Trial::cost_of(item, now);
        // `useful` is positive: the worst step has an excess, and this choice newly spills the item
        // there.
        found.emplace_back(extra / useful, i, std::move(choice));
      }
    }
    std::ranges::stable_sort(found, {}, [](const auto& entry) { return std::get<0>(entry); });
    // A cheap choice can fail for lack of room in another pool; then the next cheapest is tried.
    const bool is_set = std::ranges::any_of(found, [&](const auto& entry) {
      return trial.set(std::get<1>(entry), std::get<2>(entry));
    });
    if (!is_set) return false;
  }
  return true;
}

// A choice becomes redundant when later ones relieve the same steps. Removes whole choices first,
// then single gaps.
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
    // This call and the calls of set() below cannot fail: they need no room, or room that this item
    // occupied before.
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

}  // namespace scopevm::compiler::memory

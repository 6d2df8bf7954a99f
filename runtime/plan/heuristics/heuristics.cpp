#include "runtime/plan/heuristics/heuristics.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "runtime/plan/heuristics/budget.h"
#include "runtime/plan/heuristics/first_fit.h"
#include "runtime/plan/heuristics/skyline.h"

namespace scopevm::plan {
namespace {

constexpr int kSettleRounds = 3;
constexpr size_t kFewItems = 512;
constexpr int64_t kAnyWork = std::numeric_limits<int64_t>::max();

// Descending by key; equal keys ascend by item.
template <typename Key>
std::vector<int32_t> order_by(size_t size, Key key) {
  std::vector<std::pair<decltype(key(0)), int32_t>> keys(size);
  for (size_t i = 0; i < size; ++i)
    keys[i] = {key(static_cast<int32_t>(i)), static_cast<int32_t>(i)};
  std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<int32_t> order(size);
  for (size_t i = 0; i < size; ++i) order[i] = keys[i].second;
  return order;
}

class Heuristics {
 public:
  Heuristics(const Instance& instance, int64_t target, double effort, const Deadline& deadline)
      : instance_(instance),
        steps_(instance),
        size_(instance.items.size()),
        target_(target),
        deadline_(deadline),
        budget_(size_, effort) {
    if (size_ <= kFewItems) conflicts_.emplace(instance_, steps_);
  }

  HeuristicPlan run() {
    place_in_orders();
    // The two lowest plans: a plan that is higher rarely settles below them.
    std::stable_sort(plans_.begin(), plans_.end(),
                     [](const auto& a, const auto& b) { return a.height < b.height; });
    for (size_t i = 0; i < std::min<size_t>(2, plans_.size()) && !is_done(); ++i) settle(plans_[i]);
    return best();
  }

 private:
  HeuristicPlan& best() {
    return *std::min_element(plans_.begin(), plans_.end(),
                             [](const auto& a, const auto& b) { return a.height < b.height; });
  }

  bool is_done() { return best().height <= target_ || budget_.is_spent() || deadline_.is_over(); }

  void place_in_orders() {
    const auto area = [&](int32_t i) {
      return static_cast<double>(steps_.length(i)) * static_cast<double>(instance_.items[i].size);
    };
    const auto begin = [&](int32_t i) { return -steps_.first_step(i); };
    const auto length = [&](int32_t i) { return steps_.length(i); };
    const auto end = [&](int32_t i) { return steps_.end_step(i); };
    add_skyline("skyline by begin", order_by(size_, begin));
    if (!is_done()) add_skyline("skyline by length", order_by(size_, length));
    if (!is_done()) place_by_size();
    if (!is_done()) add_skyline("skyline by area", order_by(size_, area));
    // Last, because many lifespans end at the last step of a training step: their items move often.
    if (!is_done()) add_skyline("skyline by end", order_by(size_, end));
  }

  void add_skyline(const char* name, const std::vector<int32_t>& order) {
    HeuristicPlan plan{.name = name};
    if (conflicts_) {
      plan.height = place_on_skyline(instance_, *conflicts_, order, plan.offsets);
    } else {
      const int64_t moves = budget_.moves();
      int64_t moves_left = moves;
      plan.height = place_on_skyline(instance_, steps_, order, deadline_, moves_left, plan.offsets);
      budget_.spend_moves(moves - moves_left);
    }
    add(std::move(plan));
  }

  void place_by_size() {
    HeuristicPlan plan{.name = "first fit by size"};
    const auto order = order_by(size_, [&](int32_t i) { return instance_.items[i].size; });
    // No limit if the best plan is far from the target: no plan may be higher than this one.
    const int64_t work = budget_.is_far() ? kAnyWork : budget_.work();
    if (!first_fit(order, best().height - 1, work, plan.offsets)) return;
    plan.height = height_of(instance_, plan.offsets);
    add(std::move(plan));
  }

  void add(HeuristicPlan plan) {
    plans_.push_back(std::move(plan));
    budget_.set_height(best().height, target_);
  }

  // Turns the plan upside down and lets the items fall: first fit in the order of descending ends.
  // Without alignments, no item ends higher than before, seen from the other side.
  void settle(HeuristicPlan& plan) {
    for (int round = 0; round < kSettleRounds && plan.height > target_; ++round) {
      std::vector<int64_t> offsets;
      const auto order =
          order_by(size_, [&](int32_t i) { return plan.offsets[i] + instance_.items[i].size; });
      if (!first_fit(order, plan.height, budget_.work(), offsets)) return;
      plan.height = height_of(instance_, offsets);
      plan.offsets = std::move(offsets);
    }
  }

  bool first_fit(const std::vector<int32_t>& order, int64_t limit, int64_t work,
                 std::vector<int64_t>& offsets) {
    if (conflicts_) return place_first_fit(instance_, *conflicts_, order, limit, offsets);
    int64_t work_left = work;
    const bool is_placed =
        place_first_fit(instance_, steps_, order, limit, deadline_, work_left, offsets);
    budget_.spend_work(work - work_left);
    return is_placed;
  }

  const Instance& instance_;
  Steps steps_;
  std::optional<Conflicts> conflicts_;  // of few items
  size_t size_;
  int64_t target_;
  const Deadline& deadline_;
  Budget budget_;
  std::vector<HeuristicPlan> plans_;
};

}  // namespace

HeuristicPlan place_with_heuristics(const Instance& instance, int64_t target, double effort,
                                    const Deadline& deadline) {
  return Heuristics(instance, target, effort, deadline).run();
}

}  // namespace scopevm::plan

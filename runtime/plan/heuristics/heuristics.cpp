#include "runtime/plan/heuristics/heuristics.h"

#include <algorithm>
#include <optional>

#include "runtime/plan/heuristics/first_fit.h"
#include "runtime/plan/heuristics/skyline.h"

namespace scopevm::plan {
namespace {

constexpr int kSettleRounds = 3;
constexpr size_t kFewItems = 512;

// Limits of moves on a skyline (about 1 us each on large instances) and of FirstFit::work() (20 ns
// each), per item. Generated inference and training instances reach the bound with at most 10
// moves. Nested lifespans can need n.
struct Effort {
  int64_t moves;
  int64_t work;
};
constexpr Effort kThorough = {16, 2000};
// If there are more items than kThoroughItems, and the best plan is within 1/1000 of the target.
constexpr Effort kBrief = {2, 20};
constexpr size_t kThoroughItems = 20000;

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
  Heuristics(const Instance& instance, int64_t target, const Deadline& deadline)
      : instance_(instance),
        steps_(instance),
        size_(instance.items.size()),
        target_(target),
        deadline_(deadline) {
    if (size_ <= kFewItems) conflicts_.emplace(instance_, steps_);
  }

  HeuristicPlan run() {
    place_on_skylines();
    if (!is_done()) place_by_size();
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

  bool is_done() { return best().height <= target_ || deadline_.is_over(); }

  Effort effort() {
    const bool is_near =
        size_ > kThoroughItems && !plans_.empty() && best().height - target_ < target_ / 1000;
    const auto count = static_cast<int64_t>(size_);
    const Effort& each = is_near ? kBrief : kThorough;
    return {each.moves * count, each.work * count};
  }

  void place_on_skylines() {
    const auto add = [&](const char* name, const std::vector<int32_t>& order) {
      HeuristicPlan plan;
      plan.name = name;
      plan.height = conflicts_
                        ? place_on_skyline(instance_, *conflicts_, order, plan.offsets)
                        : place_on_skyline(instance_, steps_, order, effort().moves, plan.offsets);
      plans_.push_back(std::move(plan));
      return is_done();
    };
    const auto area = [&](int32_t i) {
      return static_cast<double>(steps_.length(i)) * static_cast<double>(instance_.items[i].size);
    };
    const auto begin = [&](int32_t i) { return -steps_.first_step(i); };
    const auto end = [&](int32_t i) { return steps_.end_step(i); };
    const auto length = [&](int32_t i) { return steps_.length(i); };
    if (add("skyline by begin", order_by(size_, begin))) return;
    if (add("skyline by end", order_by(size_, end))) return;
    if (add("skyline by length", order_by(size_, length))) return;
    add("skyline by area", order_by(size_, area));
  }

  void place_by_size() {
    HeuristicPlan plan;
    plan.name = "first fit by size";
    const auto order = order_by(size_, [&](int32_t i) { return instance_.items[i].size; });
    if (!first_fit(order, best().height - 1, plan.offsets)) return;
    plan.height = height_of(instance_, plan.offsets);
    plans_.push_back(std::move(plan));
  }

  // Turns the plan upside down and lets the items fall: first fit in the order of descending ends.
  // Without alignments, no item ends higher than before, seen from the other side.
  void settle(HeuristicPlan& plan) {
    for (int round = 0; round < kSettleRounds && plan.height > target_; ++round) {
      std::vector<int64_t> offsets;
      const auto order =
          order_by(size_, [&](int32_t i) { return plan.offsets[i] + instance_.items[i].size; });
      if (!first_fit(order, plan.height, offsets)) return;
      plan.height = height_of(instance_, offsets);
      plan.offsets = std::move(offsets);
    }
  }

  bool first_fit(const std::vector<int32_t>& order, int64_t limit, std::vector<int64_t>& offsets) {
    if (conflicts_) return place_first_fit(instance_, *conflicts_, order, limit, offsets);
    return place_first_fit(instance_, steps_, order, limit, effort().work, deadline_, offsets);
  }

  const Instance& instance_;
  Steps steps_;
  std::optional<Conflicts> conflicts_;  // of a small instance
  size_t size_;
  int64_t target_;
  const Deadline& deadline_;
  std::vector<HeuristicPlan> plans_;
};

}  // namespace

HeuristicPlan place_with_heuristics(const Instance& instance, int64_t target,
                                    const Deadline& deadline) {
  return Heuristics(instance, target, deadline).run();
}

}  // namespace scopevm::plan

// The anytime search: short exact searches at capacities below the height of the best plan.
#include <algorithm>

#include "runtime/plan/instance.h"
#include "runtime/plan/search/exact_priorities.h"
#include "runtime/plan/search/exact_search.h"
#include "runtime/plan/steps.h"

namespace scopevm::plan {
namespace {

constexpr double kSizeGrowth = 1.01;  // of the numbers of placements, after each search

class Improver {
 public:
  Improver(const Instance& instance, const Cliques& cliques, int64_t target, uint64_t seed,
           std::vector<int64_t>& offsets)
      : instance_(instance),
        search_(instance, cliques),
        priorities_(instance, seed),
        offsets_(offsets),
        height_(height_of(instance, offsets)),
        target_(std::max(target, most_live_units(instance))) {}

  // Two of three searches have a capacity at which they are likely to succeed. The third has the
  // target, because most instances that reach the target do so without plans of heights in between.
  int64_t run(const Deadline& deadline) {
    double most_placements = 1000 + 2.0 * static_cast<double>(instance_.items.size());
    for (int64_t i = 0; height_ > target_ && !deadline.is_over(); ++i) {
      if (i % 3 == 0) {
        try_capacity(target_, most_placements, deadline);
      } else {
        adapt(try_capacity(likely_capacity(), most_placements, deadline));
      }
      most_placements *= kSizeGrowth;
    }
    return height_;
  }

 private:
  int64_t likely_capacity() {
    const double range = static_cast<double>(height_ - 1 - target_) * excess_;
    return target_ + static_cast<int64_t>(range * (0.4 + 0.6 * priorities_.random()));
  }

  void adapt(SearchOutcome outcome) {
    if (outcome == SearchOutcome::kFound) excess_ *= 0.7;
    if (outcome == SearchOutcome::kTimeout) excess_ = std::min(1.0, 1.4 * excess_ + 0.03);
  }

  SearchOutcome try_capacity(int64_t capacity, double most_placements, const Deadline& deadline) {
    priorities_.next(search_);
    const SearchOutcome outcome =
        search_.run(capacity, static_cast<int64_t>(most_placements), deadline);
    if (outcome == SearchOutcome::kFound) {
      offsets_ = search_.offsets();
      height_ = height_of(instance_, offsets_);
    }
    if (outcome == SearchOutcome::kInfeasible) target_ = capacity + 1;
    return outcome;
  }

  const Instance& instance_;
  ExactSearch search_;
  PriorityGenerator priorities_;
  std::vector<int64_t>& offsets_;
  int64_t height_;
  int64_t target_;
  // The capacity of the next search, as a fraction of the range from the target to the height.
  // It falls after successes and rises after timeouts.
  double excess_ = 0.5;
};

}  // namespace

int64_t improve(const Instance& instance, int64_t target, double time_limit_s, uint64_t seed,
                std::vector<int64_t>& offsets) {
  const Deadline deadline(time_limit_s);
  const int64_t height = height_of(instance, offsets);
  if (height <= target) return height;
  const Cliques cliques(instance);
  if (cliques.entries() > kMostEntries || deadline.is_over()) return height;
  return Improver(instance, cliques, target, seed, offsets).run(deadline);
}

}  // namespace scopevm::plan

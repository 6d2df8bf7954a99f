// The anytime search: short exact searches at capacities below the height of the best plan.
#include <algorithm>

#include "runtime/plan/instance.h"
#include "runtime/plan/search/exact_priorities.h"
#include "runtime/plan/search/exact_search.h"

namespace scopevm::plan {
namespace {

constexpr int64_t kMostEntries = 16'000'000;  // 256 MiB in SearchState

int64_t height_of_plan(const Instance& instance, const std::vector<int64_t>& offsets) {
  int64_t height = 0;
  for (size_t item = 0; item < offsets.size(); ++item)
    height = std::max(height, offsets[item] + instance.items[item].size);
  return height;
}

class Improver {
 public:
  Improver(const Instance& instance, const Cliques& cliques, int64_t target, uint64_t seed,
           std::vector<int64_t>& offsets)
      : instance_(instance),
        search_(instance, cliques),
        priorities_(instance, seed),
        offsets_(offsets),
        height_(height_of_plan(instance, offsets)),
        target_(std::max(target, clique_bound(instance, cliques))) {}

  int64_t run(const Deadline& deadline) {
    double most_nodes = 1000 + 2.0 * static_cast<double>(instance_.items.size());
    while (height_ > target_ && !deadline.is_over()) {
      const auto range = static_cast<double>(height_ - 1 - target_);
      const int64_t capacity = target_ + static_cast<int64_t>(range * ambition_);
      priorities_.next(search_);
      switch (search_.run(capacity, static_cast<int64_t>(most_nodes), deadline)) {
        case SearchOutcome::kFound:
          offsets_ = search_.offsets();
          height_ = height_of_plan(instance_, offsets_);
          ambition_ *= 0.5;
          break;
        case SearchOutcome::kInfeasible:
          target_ = capacity + 1;
          break;
        case SearchOutcome::kTimeout:
          ambition_ = std::min(1.0, ambition_ + 0.1);
          break;
      }
      most_nodes *= 1.02;
    }
    return height_;
  }

 private:
  const Instance& instance_;
  ExactSearch search_;
  PriorityGenerator priorities_;
  std::vector<int64_t>& offsets_;
  int64_t height_;
  int64_t target_;
  double ambition_ = 0;
};

}  // namespace

int64_t improve(const Instance& instance, int64_t target, double time_limit_s, uint64_t seed,
                std::vector<int64_t>& offsets) {
  const Deadline deadline(time_limit_s);
  const int64_t height = height_of_plan(instance, offsets);
  if (height <= target) return height;
  const Cliques cliques(instance);
  if (cliques.entries() > kMostEntries || deadline.is_over()) return height;
  return Improver(instance, cliques, target, seed, offsets).run(deadline);
}

}  // namespace scopevm::plan

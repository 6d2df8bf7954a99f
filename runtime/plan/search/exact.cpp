// The exact solver: restarts of the exact search with other priorities and growing budgets.
#include "runtime/plan/instance.h"
#include "runtime/plan/search/exact_priorities.h"
#include "runtime/plan/search/exact_search.h"
#include "runtime/plan/steps.h"

namespace scopevm::plan {
namespace {

// Of the number of placements, after each restart. Costs of searches have a heavy tail (Gomes et
// al., AAAI 1998); slow growth keeps restarts frequent, and any growth makes the search complete.
constexpr double kGrowth = 1.05;

}  // namespace

SearchOutcome search_exact(const Instance& instance, int64_t capacity, double time_limit_s,
                           std::vector<int64_t>& offsets) {
  const Deadline deadline(time_limit_s);
  for (const Item& item : instance.items) {
    if (item.size > capacity || (item.offset && *item.offset + item.size > capacity))
      return SearchOutcome::kInfeasible;
  }
  if (most_live_units(instance) > capacity) return SearchOutcome::kInfeasible;
  const Cliques cliques(instance);
  if (cliques.entries() > kMostEntries || deadline.is_over()) return SearchOutcome::kTimeout;
  ExactSearch search(instance, cliques);
  PriorityGenerator priorities(instance, 1);
  double most_placements = 1000 + 2.0 * static_cast<double>(instance.items.size());
  while (true) {
    priorities.next(search);
    const SearchOutcome outcome =
        search.run(capacity, static_cast<int64_t>(most_placements), deadline);
    if (outcome == SearchOutcome::kFound) offsets = search.offsets();
    if (outcome != SearchOutcome::kTimeout || deadline.is_over()) return outcome;
    most_placements *= kGrowth;
  }
}

}  // namespace scopevm::plan

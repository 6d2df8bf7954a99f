#include "runtime/plan/portfolio.h"

#include <algorithm>

#include "runtime/plan/heuristics/heuristics.h"
#include "runtime/plan/instance.h"
#include "runtime/plan/steps.h"

namespace scopevm::plan {
namespace {

// The exact search does not finish on larger instances.
constexpr size_t kMostExactItems = 20000;
// A search can start from a better plan after more heuristics.
constexpr double kEffortBeforeSearch = 4;
// improve() seldom finds better plans of more items, so that half of its time is spent on orders.
constexpr size_t kFewestOrderedItems = 1500;
constexpr double kFirstSlice = 1.0 / 32;  // of the time limit

}  // namespace

Portfolio::Portfolio(std::vector<Section>& sections, const Options& options,
                     const Deadline& deadline)
    : sections_(sections), options_(options), deadline_(deadline), searches_(sections.size()) {
  for (const Section& section : sections_) {
    target_bytes_ = std::max(target_bytes_, section.bound_bytes());
    is_infeasible_ |= section.lower_bound > section.capacity;
  }
  target_bytes_ = std::max(target_bytes_, options.capacity.value_or(0));
  for (Search& search : searches_) search.slice_s = options.time_limit_s * kFirstSlice;
}

// In units.
int64_t Portfolio::goal_of(const Section& section) const {
  return std::min(section.capacity, std::max(section.lower_bound, target_bytes_ / section.unit));
}

bool Portfolio::is_done(const Section& section) const { return section.height <= goal_of(section); }

void Portfolio::run() {
  const double effort = options_.solver == Solver::kHeuristic ? 1 : kEffortBeforeSearch;
  for (Section& section : sections_) {
    HeuristicPlan plan =
        place_with_heuristics(section.instance, goal_of(section), effort, deadline_);
    // A choice of pools has made a plan already.
    if (!section.offsets.empty() && section.height <= plan.height) continue;
    section.offsets = std::move(plan.offsets);
    section.height = plan.height;
    section.solver = plan.name;
  }
  if (options_.solver == Solver::kHeuristic) return;
  while (!is_infeasible_ && !deadline_.is_over()) {
    const size_t worst = find_worst();
    if (worst == sections_.size()) return;
    search(worst);
  }
}

// The section with the largest excess over its goal; the number of sections if all are done.
size_t Portfolio::find_worst() const {
  size_t worst = sections_.size();
  int64_t most = 0;
  for (size_t i = 0; i < sections_.size(); ++i) {
    const int64_t excess = (sections_[i].height - goal_of(sections_[i])) * sections_[i].unit;
    if (excess <= most) continue;
    most = excess;
    worst = i;
  }
  return worst;
}

// One slice of each search that the options permit. Slices double, because an exact search that
// timed out starts again.
void Portfolio::search(size_t index) {
  Section& section = sections_[index];
  const double slice_s = std::min(searches_[index].slice_s, deadline_.left_s());
  searches_[index].slice_s *= 2;
  const bool is_exact =
      options_.solver == Solver::kExact ||
      (options_.solver == Solver::kAutomatic && section.instance.items.size() <= kMostExactItems);
  if (options_.solver != Solver::kExact)
    search_by_improving(index, is_exact ? slice_s / 2 : slice_s);
  if (is_exact && !is_done(section)) search_exactly(index, slice_s);
  for (const Section& other : sections_)
    target_bytes_ = std::max(target_bytes_, other.bound_bytes());
}

void Portfolio::set_height(Section& section, int64_t height) {
  if (height < section.height) section.solver = "search";
  section.height = height;
}

void Portfolio::search_by_improving(size_t index, double slice_s) {
  Section& section = sections_[index];
  if (section.instance.items.size() >= kFewestOrderedItems) {
    slice_s /= 2;
    search_orders(index, slice_s);
    if (is_done(section)) return;
  }
  // Another seed for each call: the same one would repeat the steps of the last call.
  const uint64_t calls = searches_[index].calls++;
  set_height(section, improve(section.instance, goal_of(section), slice_s, options_.seed + calls,
                              section.offsets));
}

void Portfolio::search_orders(size_t index, double slice_s) {
  Section& section = sections_[index];
  std::optional<OrderSearch>& orders = searches_[index].orders;
  if (!orders) orders.emplace(section.instance, options_.seed);
  set_height(section, orders->run(goal_of(section), Deadline(slice_s), deadline_, section.offsets));
}

// The bound first, because many instances reach it; then halves the interval between the capacities
// that timed out and the height.
int64_t Portfolio::next_capacity(size_t index) {
  const Section& section = sections_[index];
  std::optional<int64_t>& gap = searches_[index].gap;
  const int64_t goal = goal_of(section);
  if (section.height > section.capacity || options_.capacity || !gap || *gap < goal) return goal;
  if (*gap >= section.height - 1) {
    gap.reset();
    return goal;
  }
  return *gap + (section.height - *gap) / 2;
}

void Portfolio::search_exactly(size_t index, double slice_s) {
  Section& section = sections_[index];
  const int64_t capacity = next_capacity(index);
  std::vector<int64_t> offsets = section.offsets;
  switch (search_exact(section.instance, capacity, slice_s, offsets)) {
    case SearchOutcome::kFound:
      section.offsets = std::move(offsets);
      section.height = height_of(section.instance, section.offsets);
      section.solver = "exact";
      return;
    case SearchOutcome::kInfeasible:
      section.lower_bound = std::max(section.lower_bound, capacity + 1);
      is_infeasible_ |= section.lower_bound > section.capacity;
      return;
    case SearchOutcome::kTimeout:
      searches_[index].gap = capacity;
      return;
  }
}

}  // namespace scopevm::plan

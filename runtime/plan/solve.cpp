// solve(): checks a problem, chooses pools, divides it into sections, and plans these.
#include <algorithm>
#include <limits>

#include "runtime/plan/portfolio.h"
#include "runtime/plan/problem/groups.h"
#include "runtime/plan/problem/pools.h"
#include "runtime/plan/problem/sections.h"
#include "runtime/plan/steps.h"
#include "runtime/without_exceptions.h"

namespace scopevm::plan {
namespace {

// No height exceeds it; see check_sums().
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 2;

std::vector<int64_t> limits_of(const Problem& problem, const Options& options) {
  std::vector<int64_t> limits;
  for (const Pool& pool : problem.pools)
    limits.push_back(
        std::min(pool.limit.value_or(kUnlimited), options.capacity.value_or(kUnlimited)));
  if (limits.empty()) limits.push_back(options.capacity.value_or(kUnlimited));
  return limits;
}

// Whether some group exceeds the limits of all its candidates.
bool exceeds_limits(const Groups& groups, const std::vector<int64_t>& limits) {
  return std::any_of(groups.groups.begin(), groups.groups.end(), [&](const Group& group) {
    return group.size > 0 && std::all_of(group.pools.begin(), group.pools.end(), [&](int pool) {
             return group.offset.value_or(0) + group.size > limits[pool];
           });
  });
}

// Copies the plan of choose_pools(), if it made one, into the sections.
void start_from(const PoolChoice& choice, std::vector<Section>& sections) {
  if (choice.offsets.empty()) return;
  for (Section& section : sections) {
    for (const int group : section.groups)
      section.offsets.push_back(choice.offsets[group] / section.unit);
    section.height = height_of(section.instance, section.offsets);
    section.solver = "first fit in pools";
  }
}

void write_offsets(const Groups& groups, const PoolChoice& choice,
                   const std::vector<Section>& sections, Plan& plan) {
  std::vector<int64_t> offsets(groups.groups.size());
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = groups.groups[i].offset.value_or(0);
  for (const Section& section : sections)
    for (size_t i = 0; i < section.groups.size(); ++i)
      offsets[section.groups[i]] = section.offsets[i] * section.unit;
  for (size_t i = 0; i < groups.group_of.size(); ++i) {
    plan.offsets.push_back(offsets[groups.group_of[i]] + groups.offset_within[i]);
    plan.pools.push_back(choice.pools[groups.group_of[i]]);
  }
  plan.cost = choice.cost;
}

// The section of the largest height determines the plan's height and solver.
void summarize(const std::vector<Section>& sections, Plan& plan) {
  plan.solver = "none";
  for (const Section& section : sections) {
    plan.lower_bound = std::max(plan.lower_bound, section.bound_bytes());
    if (section.height_bytes() <= plan.height) continue;
    plan.height = section.height_bytes();
    plan.solver = section.solver;
  }
}

Result<Plan> solve_checked(const Problem& problem, const Options& options) {
  const Deadline deadline(options.time_limit_s);
  SCOPEVM_ASSIGN_OR_RETURN(const Groups groups, group_buffers(problem));
  const std::vector<int64_t> limits = limits_of(problem, options);
  Plan plan;
  if (exceeds_limits(groups, limits)) plan.proof = Proof::kInfeasible;
  const PoolChoice choice = choose_pools(problem, groups, limits, deadline);
  plan.cpu_s = deadline.elapsed_s();
  if (!choice.is_found) return plan;

  std::vector<Section> sections = split(groups, choice.pools, limits);
  start_from(choice, sections);
  Portfolio portfolio(sections, options, deadline);
  portfolio.run();
  summarize(sections, plan);
  const bool is_within = std::all_of(sections.begin(), sections.end(), [](const Section& section) {
    return section.height <= section.capacity;
  });
  if (is_within) write_offsets(groups, choice, sections, plan);
  if (is_within && plan.height == plan.lower_bound && choice.is_cheapest)
    plan.proof = Proof::kOptimal;
  if (portfolio.is_infeasible() && choice.is_only) plan.proof = Proof::kInfeasible;
  plan.cpu_s = deadline.elapsed_s();
  return plan;
}

}  // namespace

Result<Plan> solve(const Problem& problem, const Options& options) {
  return runtime::without_exceptions([&] { return solve_checked(problem, options); });
}

Result<int64_t> live_bytes_bound(const Problem& problem) {
  return runtime::without_exceptions([&]() -> Result<int64_t> {
    SCOPEVM_ASSIGN_OR_RETURN(const Groups groups, group_buffers(problem));
    Instance instance;
    for (const Group& group : groups.groups)
      instance.items.push_back({group.size, 1, std::nullopt, group.lifespans});
    contract_steps(instance.items);
    return lower_bound_of(instance);
  });
}

}  // namespace scopevm::plan

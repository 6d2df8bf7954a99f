#include "runtime/plan/problem/pools.h"

#include <algorithm>
#include <numeric>

#include "runtime/plan/heuristics/first_fit.h"

namespace scopevm::plan {
namespace {

constexpr int kMostTrials = 1000;

class PoolSearch {
 public:
  PoolSearch(const Problem& problem, const Groups& groups, const std::vector<int64_t>& limits,
             const Deadline& deadline)
      : problem_(problem),
        groups_(groups.groups),
        limits_(limits),
        deadline_(deadline),
        items_(items_of(groups.groups)),
        steps_(items_) {}

  PoolChoice run() {
    for (const auto& order : orders()) try_from(order);
    return std::move(best_);
  }

 private:
  static Instance items_of(const std::vector<Group>& groups) {
    Instance items;
    for (const Group& group : groups)
      items.items.push_back({group.size, group.alignment, group.offset, group.lifespans});
    contract_steps(items.items);
    return items;
  }

  // Groups with required offsets first, then descending by key.
  template <typename Key>
  std::vector<int32_t> order_by(Key key) const {
    std::vector<int32_t> order(groups_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      const bool has_offset = groups_[a].offset.has_value();
      if (has_offset != groups_[b].offset.has_value()) return has_offset;
      return key(a) > key(b);
    });
    return order;
  }

  // The cost per byte of the second candidate less that of the first.
  double saving(int32_t group) const {
    const std::vector<int>& pools = groups_[group].pools;
    if (pools.size() < 2 || problem_.pools.empty()) return 0;
    return problem_.pools[pools[1]].cost_per_byte - problem_.pools[pools[0]].cost_per_byte;
  }

  std::vector<std::vector<int32_t>> orders() const {
    const auto size = [&](int32_t i) { return groups_[i].size; };
    const auto length = [&](int32_t i) { return static_cast<double>(steps_.length(i)); };
    return {
        order_by(size),
        // Groups with one candidate before groups that can use another pool.
        order_by([&](int32_t i) {
          return std::pair(-static_cast<int64_t>(groups_[i].pools.size()), size(i));
        }),
        // Short lifespans occupy the cheaper pool for less time.
        order_by([&](int32_t i) { return std::pair(saving(i) / length(i), size(i)); }),
        order_by([&](int32_t i) { return length(i); }),
    };
  }

  void try_from(std::vector<int32_t> order) {
    for (int trial = 0; trial < kMostTrials; ++trial) {
      if (trial > 0 && deadline_.is_over()) return;
      PoolChoice choice;
      const auto failed = place(order, choice);
      if (failed == order.end()) {
        if (!best_.is_found || choice.cost < best_.cost) best_ = std::move(choice);
        return;
      }
      if (best_.is_found) return;
      std::rotate(order.begin(), failed, failed + 1);
    }
  }

  // Returns the first group that fits in none of its candidates.
  std::vector<int32_t>::iterator place(std::vector<int32_t>& order, PoolChoice& choice) const {
    std::vector<FirstFit> pools;
    for (size_t i = 0; i < limits_.size(); ++i) pools.emplace_back(steps_.count());
    choice.pools.assign(order.size(), 0);
    choice.offsets.assign(order.size(), 0);
    choice.is_cheapest = true;
    for (auto group = order.begin(); group != order.end(); ++group)
      if (!place_in_first(pools, *group, choice)) return group;
    choice.is_found = true;
    return order.end();
  }

  // Each candidate is tried for each group: a pool without room for one has room for others.
  bool place_in_first(std::vector<FirstFit>& pools, int32_t index, PoolChoice& choice) const {
    const Group& group = groups_[index];
    for (const int pool : group.pools) {
      const int64_t offset = offset_in(pools[pool], index);
      if (offset < 0 || offset > limits_[pool] - group.size) continue;
      if (group.size > 0) pools[pool].place(steps_.of(index), offset, group.size);
      choice.pools[index] = pool;
      choice.offsets[index] = offset;
      choice.is_cheapest &= cost_of(pool) == cost_of(group.pools[0]);
      choice.cost += static_cast<double>(group.size) * cost_of(pool);
      return true;
    }
    return false;
  }

  // The lowest free offset; -1 if the required offset is not free.
  int64_t offset_in(FirstFit& pool, int32_t index) const {
    const Group& group = groups_[index];
    if (group.size == 0) return group.offset.value_or(0);
    if (!group.offset) return pool.find(steps_.of(index), group.size, group.alignment);
    return pool.is_free(steps_.of(index), *group.offset, group.size) ? *group.offset : -1;
  }

  double cost_of(int pool) const {
    return problem_.pools.empty() ? 0 : problem_.pools[pool].cost_per_byte;
  }

  const Problem& problem_;
  const std::vector<Group>& groups_;
  const std::vector<int64_t>& limits_;
  const Deadline& deadline_;
  Instance items_;
  Steps steps_;
  PoolChoice best_;
};

}  // namespace

PoolChoice choose_pools(const Problem& problem, const Groups& groups,
                        const std::vector<int64_t>& limits, const Deadline& deadline) {
  PoolChoice choice{.is_found = true, .is_only = true, .is_cheapest = true};
  for (const Group& group : groups.groups) {
    choice.is_only &= group.size == 0 || group.pools.size() == 1;
    choice.pools.push_back(group.pools[0]);
    if (!problem.pools.empty())
      choice.cost += static_cast<double>(group.size) * problem.pools[group.pools[0]].cost_per_byte;
  }
  return choice.is_only ? choice : PoolSearch(problem, groups, limits, deadline).run();
}

}  // namespace scopevm::plan

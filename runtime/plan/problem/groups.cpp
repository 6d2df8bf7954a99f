#include "runtime/plan/problem/groups.h"

#include <algorithm>
#include <numeric>

namespace scopevm::plan {
namespace {

class Grouping {
 public:
  explicit Grouping(const Problem& problem) : problem_(problem), count_(problem.buffers.size()) {}

  Result<Groups> run() {
    result_.pool_count = static_cast<int>(std::max<size_t>(1, problem_.pools.size()));
    result_.group_of.assign(count_, kUnknown);
    result_.offset_within.assign(count_, 0);
    for (size_t i = 0; i < count_; ++i) SCOPEVM_RETURN_IF_ERROR(find_group(i));
    for (size_t i = 0; i < count_; ++i) SCOPEVM_RETURN_IF_ERROR(add(i));
    for (size_t i = 0; i < count_; ++i) SCOPEVM_RETURN_IF_ERROR(check_required(i));
    for (Group& group : result_.groups) finish(group);
    return std::move(result_);
  }

 private:
  static constexpr int kUnknown = -1;
  static constexpr int kVisited = -2;

  Status invalid(size_t buffer, const std::string& reason) const {
    return {StatusCode::kInvalidArgument, name_of(problem_, buffer) + ": " + reason};
  }

  // Follows the bases up to a buffer whose group is known, then returns along the path.
  Status find_group(size_t buffer) {
    std::vector<size_t> path;
    size_t at = buffer;
    for (; result_.group_of[at] == kUnknown && problem_.buffers[at].base;
         at = *problem_.buffers[at].base) {
      result_.group_of[at] = kVisited;
      path.push_back(at);
    }
    if (result_.group_of[at] == kVisited) return invalid(at, "is a view of itself");
    if (result_.group_of[at] == kUnknown) {
      result_.group_of[at] = static_cast<int>(result_.groups.size());
      result_.groups.push_back({.size = problem_.buffers[at].size});
    }
    for (; !path.empty(); path.pop_back()) {
      const Buffer& view = problem_.buffers[path.back()];
      result_.group_of[path.back()] = result_.group_of[at];
      result_.offset_within[path.back()] = result_.offset_within[*view.base] + view.base_offset;
    }
    return {};
  }

  Status add(size_t index) {
    const Buffer& buffer = problem_.buffers[index];
    Group& group = result_.groups[result_.group_of[index]];
    const int64_t within = result_.offset_within[index];
    if (within % buffer.alignment != 0)
      return invalid(index, "byte " + std::to_string(within) +
                                " of its base is not a multiple of its alignment " +
                                std::to_string(buffer.alignment));
    const int64_t factor = buffer.alignment / std::gcd(group.alignment, buffer.alignment);
    if (group.alignment > kMostAlignment / factor)
      return invalid(index, "the least common alignment of the views exceeds 2^40");
    group.alignment *= factor;
    group.lifespans.insert(group.lifespans.end(), buffer.lifespans.begin(), buffer.lifespans.end());
    if (buffer.offset) {
      const int64_t offset = *buffer.offset - within;
      if (offset < 0 || (group.offset && *group.offset != offset))
        return invalid(index, "its required offset " + std::to_string(*buffer.offset) +
                                  " contradicts that of its base or of another view");
      group.offset = offset;
    }
    return restrict_pools(index, group);
  }

  // Removes the candidates that are not candidates of the buffer.
  Status restrict_pools(size_t index, Group& group) {
    const std::vector<int>& pools = problem_.buffers[index].pools;
    if (pools.empty()) return {};
    if (group.pools.empty()) {
      for (const int pool : pools)
        if (std::find(group.pools.begin(), group.pools.end(), pool) == group.pools.end())
          group.pools.push_back(pool);
      return {};
    }
    std::erase_if(group.pools, [&](int pool) {
      return std::find(pools.begin(), pools.end(), pool) == pools.end();
    });
    if (group.pools.empty()) return invalid(index, "has no candidate pool in common with its base");
    return {};
  }

  Status check_required(size_t index) const {
    const Group& group = result_.groups[result_.group_of[index]];
    if (!group.offset || *group.offset % group.alignment == 0) return {};
    return invalid(index, "the required offset " + std::to_string(*group.offset) +
                              " of its base is not a multiple of the alignment " +
                              std::to_string(group.alignment) + " of its views");
  }

  void finish(Group& group) const {
    if (group.pools.empty()) {
      group.pools.resize(result_.pool_count);
      std::iota(group.pools.begin(), group.pools.end(), 0);
    }
    if (!problem_.pools.empty())
      std::stable_sort(group.pools.begin(), group.pools.end(), [&](int a, int b) {
        return problem_.pools[a].cost_per_byte < problem_.pools[b].cost_per_byte;
      });
    std::sort(group.lifespans.begin(), group.lifespans.end(),
              [](const Lifespan& a, const Lifespan& b) { return a.lower < b.lower; });
    std::vector<Lifespan> merged;
    for (const Lifespan& span : group.lifespans)
      if (!merged.empty() && span.lower <= merged.back().upper)
        merged.back().upper = std::max(merged.back().upper, span.upper);
      else
        merged.push_back(span);
    group.lifespans = std::move(merged);
  }

  const Problem& problem_;
  size_t count_;
  Groups result_;
};

}  // namespace

Result<Groups> group_buffers(const Problem& problem) {
  SCOPEVM_RETURN_IF_ERROR(check_buffers(problem));
  SCOPEVM_ASSIGN_OR_RETURN(Groups groups, Grouping(problem).run());
  SCOPEVM_RETURN_IF_ERROR(check_sums(groups));
  SCOPEVM_RETURN_IF_ERROR(check_required_offsets(problem, groups));
  return groups;
}

}  // namespace scopevm::plan

// Checks problems.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "runtime/plan/problem/groups.h"

namespace scopevm::plan {
namespace {

// The sum of sizes, alignments and required offsets stays below it, so that no offset overflows.
constexpr int64_t kMostBytes = int64_t{1} << 61;

Status invalid(const Problem& problem, size_t buffer, const std::string& reason) {
  return {StatusCode::kInvalidArgument, name_of(problem, buffer) + ": " + reason};
}

std::string text_of(const Lifespan& span) {
  return "[" + std::to_string(span.lower) + ", " + std::to_string(span.upper) + ")";
}

Status check_lifespans(const Problem& problem, size_t index) {
  const std::vector<Lifespan>& spans = problem.buffers[index].lifespans;
  if (spans.empty()) return invalid(problem, index, "has no lifespan");
  for (size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].lower >= spans[i].upper)
      return invalid(problem, index, "lifespan " + text_of(spans[i]) + ": expected lower < upper");
    if (i > 0 && spans[i].lower < spans[i - 1].upper)
      return invalid(problem, index,
                     "lifespan " + text_of(spans[i]) + " does not begin after " +
                         text_of(spans[i - 1]) + "; expected ascending, disjoint lifespans");
  }
  return {};
}

Status check_base(const Problem& problem, size_t index) {
  const Buffer& buffer = problem.buffers[index];
  if (!buffer.base) return {};
  if (*buffer.base < 0 || static_cast<size_t>(*buffer.base) >= problem.buffers.size())
    return invalid(problem, index, "base " + std::to_string(*buffer.base) + ": no such buffer");
  const int64_t room = problem.buffers[*buffer.base].size - buffer.size;
  if (buffer.base_offset < 0 || buffer.base_offset > room)
    return invalid(problem, index,
                   std::to_string(buffer.size) + " bytes at byte " +
                       std::to_string(buffer.base_offset) + " are not inside the base, " +
                       name_of(problem, *buffer.base) + ", of " +
                       std::to_string(problem.buffers[*buffer.base].size) + " bytes");
  return {};
}

Status check_buffer(const Problem& problem, size_t index) {
  const Buffer& buffer = problem.buffers[index];
  if (buffer.size < 0)
    return invalid(problem, index, "size " + std::to_string(buffer.size) + " is negative");
  if (buffer.alignment < 1 || buffer.alignment > kMostAlignment)
    return invalid(
        problem, index,
        "alignment " + std::to_string(buffer.alignment) + ": expected a number from 1 to 2^40");
  if (buffer.offset && (*buffer.offset < 0 || *buffer.offset % buffer.alignment != 0))
    return invalid(problem, index,
                   "required offset " + std::to_string(*buffer.offset) +
                       ": expected a multiple of the alignment " +
                       std::to_string(buffer.alignment) + ", and at least 0");
  const size_t pools = std::max<size_t>(1, problem.pools.size());
  for (const int pool : buffer.pools)
    if (pool < 0 || static_cast<size_t>(pool) >= pools)
      return invalid(problem, index,
                     "pool " + std::to_string(pool) + ": the problem has " + std::to_string(pools) +
                         (pools == 1 ? " pool" : " pools"));
  SCOPEVM_RETURN_IF_ERROR(check_lifespans(problem, index));
  return check_base(problem, index);
}

}  // namespace

std::string name_of(const Problem& problem, size_t buffer) {
  const std::string& id = problem.buffers[buffer].id;
  return id.empty() ? "buffer " + std::to_string(buffer) : "buffer \"" + id + "\"";
}

Status check_buffers(const Problem& problem) {
  if (problem.buffers.size() > size_t{1} << 30)
    return {StatusCode::kInvalidArgument, "the problem has more than 2^30 buffers"};
  for (const Pool& pool : problem.pools) {
    if (pool.limit.value_or(0) < 0)
      return {StatusCode::kInvalidArgument, "pool \"" + pool.name + "\": the limit is negative"};
    if (!std::isfinite(pool.cost_per_byte))
      return {StatusCode::kInvalidArgument, "pool \"" + pool.name + "\": the cost is not finite"};
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(check_buffer(problem, i));
  return {};
}

Status check_sums(const Groups& groups) {
  int64_t sum = 0;
  for (const Group& group : groups.groups)
    for (const int64_t bytes : {group.size, group.alignment, group.offset.value_or(0)}) {
      if (bytes > kMostBytes - sum)
        return {StatusCode::kInvalidArgument,
                "the sum of sizes, alignments and required offsets exceeds 2^61 bytes"};
      sum += bytes;
    }
  return {};
}

namespace {

// A begin or an end of a lifespan of a group with a required offset.
struct Event {
  int64_t time;
  bool is_begin;  // ends sort before begins
  int group;
  auto operator<=>(const Event&) const = default;
};

// The root buffer of a group, for messages.
std::string root_name(const Problem& problem, const Groups& groups, int group) {
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (groups.group_of[i] == group && !problem.buffers[i].base) return name_of(problem, i);
  return "";
}

// The groups of one pool that are live while the events are visited in order.
class RequiredRanges {
 public:
  explicit RequiredRanges(const Groups& groups) : groups_(groups) {}

  // Adds a group. Returns the group that it overlaps, or -1.
  int add(int group) {
    const auto above = live_.lower_bound(offset_of(group));
    if (above != live_.end() && above->first < end_of(group)) return above->second;
    if (above != live_.begin() && end_of(std::prev(above)->second) > offset_of(group))
      return std::prev(above)->second;
    live_.emplace(offset_of(group), group);
    return -1;
  }
  void remove(int group) { live_.erase(offset_of(group)); }

 private:
  int64_t offset_of(int group) const { return *groups_.groups[group].offset; }
  int64_t end_of(int group) const { return offset_of(group) + groups_.groups[group].size; }

  const Groups& groups_;
  std::map<int64_t, int> live_;  // by offset
};

}  // namespace

Status check_required_offsets(const Problem& problem, const Groups& groups) {
  std::map<int, std::vector<Event>> events;  // by pool
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    const Group& group = groups.groups[i];
    if (!group.offset || group.size == 0 || group.pools.size() != 1) continue;
    for (const Lifespan& span : group.lifespans) {
      events[group.pools[0]].push_back({span.lower, true, static_cast<int>(i)});
      events[group.pools[0]].push_back({span.upper, false, static_cast<int>(i)});
    }
  }
  for (auto& [pool, list] : events) {
    std::sort(list.begin(), list.end());
    RequiredRanges live(groups);
    for (const Event& event : list) {
      if (!event.is_begin) {
        live.remove(event.group);
        continue;
      }
      if (const int other = live.add(event.group); other >= 0)
        return {StatusCode::kInvalidArgument,
                root_name(problem, groups, event.group) + ": its required offset " +
                    std::to_string(*groups.groups[event.group].offset) + " overlaps that of " +
                    root_name(problem, groups, other)};
    }
  }
  return {};
}

}  // namespace scopevm::plan

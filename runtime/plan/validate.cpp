// Validates plans by definition. Shares no code with the planners.
#include <algorithm>
#include <map>
#include <optional>

#include "runtime/without_exceptions.h"
#include "scopevm/plan.h"

namespace scopevm::plan {
namespace {

class Validation {
 public:
  Validation(const Problem& problem, const Plan& plan) : problem_(problem), plan_(plan) {}

  Status run() {
    const size_t count = problem_.buffers.size();
    if (plan_.offsets.size() != count || plan_.pools.size() != count)
      return {StatusCode::kInvalidArgument, "the plan has " + std::to_string(plan_.offsets.size()) +
                                                " offsets and " +
                                                std::to_string(plan_.pools.size()) + " pools for " +
                                                std::to_string(count) + " buffers"};
    for (size_t i = 0; i < count; ++i) {
      SCOPEVM_RETURN_IF_ERROR(check_offset(i));
      SCOPEVM_RETURN_IF_ERROR(check_pool(i));
      SCOPEVM_RETURN_IF_ERROR(check_view(i));
    }
    return check_overlaps();
  }

 private:
  std::string name(size_t i) const {
    const std::string& id = problem_.buffers[i].id;
    return id.empty() ? "buffer " + std::to_string(i) : "buffer \"" + id + "\"";
  }
  std::string place(size_t i) const {
    return name(i) + " at offset " + std::to_string(plan_.offsets[i]);
  }
  Status fail(std::string message) const {
    return {StatusCode::kInvalidArgument, std::move(message)};
  }

  Status check_offset(size_t i) const {
    const Buffer& buffer = problem_.buffers[i];
    const int64_t offset = plan_.offsets[i];
    if (offset < 0) return fail(place(i) + ": the offset is negative");
    if (buffer.alignment < 1 || offset % buffer.alignment != 0)
      return fail(place(i) + ": expected a multiple of the alignment " +
                  std::to_string(buffer.alignment));
    if (buffer.offset && offset != *buffer.offset)
      return fail(place(i) + ": expected the required offset " + std::to_string(*buffer.offset));
    if (buffer.size < 0) return fail(name(i) + ": the size is negative");
    if (buffer.size > 0 && offset > plan_.height - buffer.size)
      return fail(place(i) + " ends above the plan's height " + std::to_string(plan_.height));
    return {};
  }

  Status check_pool(size_t i) const {
    const Buffer& buffer = problem_.buffers[i];
    const int pool = plan_.pools[i];
    const size_t pools = std::max<size_t>(1, problem_.pools.size());
    if (pool < 0 || static_cast<size_t>(pool) >= pools)
      return fail(name(i) + ": the problem has no pool " + std::to_string(pool));
    if (!buffer.pools.empty() &&
        std::find(buffer.pools.begin(), buffer.pools.end(), pool) == buffer.pools.end())
      return fail(name(i) + ": pool " + std::to_string(pool) + " is not a candidate");
    if (problem_.pools.empty() || buffer.size == 0) return {};
    const std::optional<int64_t>& limit = problem_.pools[pool].limit;
    if (limit && plan_.offsets[i] > *limit - buffer.size)
      return fail(place(i) + " ends above the limit of pool \"" + problem_.pools[pool].name +
                  "\", " + std::to_string(*limit));
    return {};
  }

  Status check_view(size_t i) const {
    const Buffer& buffer = problem_.buffers[i];
    if (!buffer.base) return {};
    const int base = *buffer.base;
    if (base < 0 || static_cast<size_t>(base) >= problem_.buffers.size())
      return fail(name(i) + ": the base does not exist");
    if (plan_.pools[i] != plan_.pools[base] ||
        plan_.offsets[i] != plan_.offsets[base] + buffer.base_offset)
      return fail(place(i) + ": expected byte " + std::to_string(buffer.base_offset) +
                  " of its base, " + place(base));
    return {};
  }

  // The buffer at the end of the chain of bases; `i` itself if the chain is cyclic.
  size_t root_of(size_t i) const {
    size_t root = i;
    for (size_t length = 0; problem_.buffers[root].base; ++length) {
      if (length > problem_.buffers.size()) return i;
      root = *problem_.buffers[root].base;
    }
    return root;
  }

  // A begin or an end of a lifespan. At one time, ends sort before begins: lifespans are half-open.
  struct Event {
    int pool;
    int64_t time;
    bool is_begin;
    size_t root;
    auto operator<=>(const Event&) const = default;
  };

  // Visits the events in order of time and keeps the ranges of the live buffers. A base is live
  // while one of its views is.
  Status check_overlaps() const {
    std::vector<Event> events;
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const size_t root = root_of(i);
      if (problem_.buffers[root].size == 0) continue;
      for (const Lifespan& span : problem_.buffers[i].lifespans) {
        events.push_back({plan_.pools[i], span.lower, true, root});
        events.push_back({plan_.pools[i], span.upper, false, root});
      }
    }
    std::sort(events.begin(), events.end());
    std::vector<int> uses(problem_.buffers.size());  // by root: its live buffers
    std::map<int64_t, size_t> live;                  // offset -> root; all are in one pool
    for (const Event& event : events) {
      if (!event.is_begin) {
        if (--uses[event.root] == 0) live.erase(plan_.offsets[event.root]);
      } else if (uses[event.root]++ == 0) {
        SCOPEVM_RETURN_IF_ERROR(add(event, live));
      }
    }
    return {};
  }

  // The live ranges are disjoint, so a new one can overlap only its neighbours.
  Status add(const Event& event, std::map<int64_t, size_t>& live) const {
    const int64_t offset = plan_.offsets[event.root];
    const auto above = live.lower_bound(offset);
    if (above != live.end() && above->first - offset < problem_.buffers[event.root].size)
      return overlap(event, above->second);
    if (above != live.begin()) {
      const size_t below = std::prev(above)->second;
      if (offset - plan_.offsets[below] < problem_.buffers[below].size)
        return overlap(event, below);
    }
    live.emplace(offset, event.root);
    return {};
  }

  Status overlap(const Event& event, size_t other) const {
    return fail(place(event.root) + " overlaps " + place(other) + " at step " +
                std::to_string(event.time));
  }

  const Problem& problem_;
  const Plan& plan_;
};

}  // namespace

Status validate(const Problem& problem, const Plan& plan) {
  return runtime::without_exceptions([&] { return Validation(problem, plan).run(); });
}

}  // namespace scopevm::plan

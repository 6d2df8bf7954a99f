#include "runtime/plan/search/exact_cliques.h"

#include <algorithm>

namespace scopevm::plan {
namespace {

struct LifespanEnd {
  int64_t step;
  bool is_start;
  bool operator<(const LifespanEnd& other) const {
    return step != other.step ? step < other.step : is_start < other.is_start;
  }
};

// The steps with maximal sets of live items: the last start before each first end.
std::vector<int64_t> peak_steps(const Instance& instance) {
  std::vector<LifespanEnd> events;
  for (const Item& item : instance.items) {
    for (const Lifespan& lifespan : item.lifespans) {
      events.push_back({lifespan.lower, true});
      events.push_back({lifespan.upper, false});
    }
  }
  std::sort(events.begin(), events.end());
  std::vector<int64_t> peaks;
  bool after_end = true;
  for (const LifespanEnd& event : events) {
    if (event.is_start && after_end) peaks.push_back(event.step);
    if (event.is_start) peaks.back() = event.step;
    after_end = !event.is_start;
  }
  return peaks;
}

int32_t first_at_or_after(const std::vector<int64_t>& peaks, int64_t step) {
  return static_cast<int32_t>(std::lower_bound(peaks.begin(), peaks.end(), step) - peaks.begin());
}

}  // namespace

Cliques::Cliques(const Instance& instance) {
  const std::vector<int64_t> peaks = peak_steps(instance);
  count_ = static_cast<int32_t>(peaks.size());
  first_.push_back(0);
  for (const Item& item : instance.items) {
    append_ranges(item, peaks);
    first_.push_back(static_cast<int32_t>(ranges_.size()));
  }
}

void Cliques::append_ranges(const Item& item, const std::vector<int64_t>& peaks) {
  const size_t first = ranges_.size();
  for (const Lifespan& lifespan : item.lifespans) {
    const int32_t begin = first_at_or_after(peaks, lifespan.lower);
    const int32_t end = first_at_or_after(peaks, lifespan.upper);
    if (begin == end) continue;
    if (ranges_.size() > first && ranges_.back().end == begin) {
      ranges_.back().end = end;
    } else {
      ranges_.push_back({begin, end, static_cast<int32_t>(entries_)});
    }
    entries_ += end - begin;
  }
}

int64_t clique_bound(const Instance& instance, const Cliques& cliques) {
  std::vector<int64_t> change(cliques.count() + 1);
  for (size_t item = 0; item < instance.items.size(); ++item) {
    for (const CliqueRange& range : cliques.of(static_cast<int32_t>(item))) {
      change[range.begin] += instance.items[item].size;
      change[range.end] -= instance.items[item].size;
    }
  }
  int64_t bound = 0;
  int64_t live = 0;
  for (const int64_t delta : change) bound = std::max(bound, live += delta);
  return bound;
}

}  // namespace scopevm::plan

#include "runtime/plan/heuristics/first_fit.h"

#include <algorithm>

namespace scopevm::plan {

void IntervalSet::add(int64_t lower, int64_t upper) {
  const auto first = std::lower_bound(intervals_.begin(), intervals_.end(), lower,
                                      [](const auto& a, int64_t at) { return a.second < at; });
  auto last = first;
  for (; last != intervals_.end() && last->first <= upper; ++last) {
    lower = std::min(lower, last->first);
    upper = std::max(upper, last->second);
  }
  if (first == last) {
    intervals_.insert(first, {lower, upper});
    return;
  }
  *first = {lower, upper};
  intervals_.erase(first + 1, last);
}

int64_t IntervalSet::end_above(int64_t offset, int64_t size) const {
  auto next = std::upper_bound(intervals_.begin(), intervals_.end(), offset,
                               [](int64_t at, const auto& a) { return at < a.second; });
  for (; next != intervals_.end() && next->first < offset + size; ++next) offset = next->second;
  return offset;
}

FirstFit::FirstFit(int32_t steps) {
  while (size_ < steps) size_ *= 2;
  nodes_.resize(2 * static_cast<size_t>(size_));
}

namespace {

// Reading the clock takes about as long as placing one item.
constexpr int32_t kItemsPerClock = 64;

// Calls `visit` with the largest nodes that together cover the range.
template <typename Visit>
void visit_cover(int32_t leaves, StepRange range, Visit visit) {
  int32_t lower = range.lower + leaves;
  int32_t upper = range.upper + leaves;
  for (; lower < upper; lower /= 2, upper /= 2) {
    if (lower % 2 == 1) visit(lower++);
    if (upper % 2 == 1) visit(--upper);
  }
}

// Calls `visit` with the nodes that contain the first or the last step of the range, except leaves.
// The ancestors of the nodes of visit_cover() are among them.
template <typename Visit>
void visit_ancestors(int32_t leaves, StepRange range, Visit visit) {
  int32_t lower = (range.lower + leaves) / 2;
  int32_t upper = (range.upper - 1 + leaves) / 2;
  for (; lower != 0; lower /= 2, upper /= 2) {
    visit(lower);
    if (upper != lower) visit(upper);
  }
}

}  // namespace

void FirstFit::collect(StepRange range) {
  const auto add = [this](const IntervalSet& set) {
    if (!set.is_empty()) found_.push_back(&set);
  };
  visit_cover(size_, range, [&](int32_t node) { add(nodes_[node].sometimes); });
  visit_ancestors(size_, range, [&](int32_t node) { add(nodes_[node].throughout); });
}

int64_t FirstFit::find(std::span<const StepRange> ranges, int64_t size, int64_t alignment) {
  found_.clear();
  for (const StepRange range : ranges) collect(range);
  int64_t offset = 0;
  // Cycles through the sets until none of them moves the offset.
  for (size_t i = 0, unmoved = 0; unmoved < found_.size(); i = i + 1 < found_.size() ? i + 1 : 0) {
    const int64_t end = found_[i]->end_above(offset, size);
    unmoved = end == offset ? unmoved + 1 : 0;
    // An aligned offset can meet further intervals of the same set.
    offset = (end + alignment - 1) / alignment * alignment;
    ++work_;
  }
  return offset;
}

bool FirstFit::is_free(std::span<const StepRange> ranges, int64_t offset, int64_t size) {
  found_.clear();
  for (const StepRange range : ranges) collect(range);
  return std::all_of(found_.begin(), found_.end(), [&](const IntervalSet* set) {
    return set->end_above(offset, size) == offset;
  });
}

void FirstFit::place(std::span<const StepRange> ranges, int64_t offset, int64_t size) {
  const int64_t end = offset + size;
  for (const StepRange range : ranges) {
    visit_cover(size_, range, [&](int32_t node) {
      nodes_[node].throughout.add(offset, end);
      nodes_[node].sometimes.add(offset, end);
    });
    visit_ancestors(size_, range, [&](int32_t node) { nodes_[node].sometimes.add(offset, end); });
  }
}

bool place_first_fit(const Instance& instance, const Steps& steps,
                     const std::vector<int32_t>& order, int64_t limit, const Deadline& deadline,
                     int64_t& work_left, std::vector<int64_t>& offsets) {
  FirstFit placed(steps.count());
  offsets.assign(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i)
    if (instance.items[i].offset) {
      offsets[i] = *instance.items[i].offset;
      placed.place(steps.of(static_cast<int32_t>(i)), offsets[i], instance.items[i].size);
    }
  const auto place = [&](int32_t i) {
    const Item& item = instance.items[i];
    offsets[i] = placed.find(steps.of(i), item.size, item.alignment);
    if (offsets[i] > limit - item.size || placed.work() > work_left) return false;
    if (i % kItemsPerClock == 0 && deadline.is_over()) return false;
    placed.place(steps.of(i), offsets[i], item.size);
    return true;
  };
  const bool is_placed = std::all_of(order.begin(), order.end(), [&](int32_t i) {
    return instance.items[i].offset.has_value() || place(i);
  });
  work_left -= placed.work();
  return is_placed;
}

}  // namespace scopevm::plan

#include "runtime/plan/steps.h"

#include <algorithm>
#include <numeric>

namespace scopevm::plan {

Steps::Steps(const Instance& instance) {
  first_.reserve(instance.items.size() + 1);
  first_.push_back(0);
  for (const Item& item : instance.items) {
    for (const Lifespan& span : item.lifespans)
      ranges_.push_back({static_cast<int32_t>(span.lower), static_cast<int32_t>(span.upper)});
    first_.push_back(ranges_.size());
    count_ = std::max(count_, ranges_.back().upper);
  }
}

int64_t Steps::length(int32_t item) const {
  int64_t length = 0;
  for (const StepRange range : of(item)) length += range.upper - range.lower;
  return length;
}

namespace {

// A bound of a lifespan. `bound` points to the number that contract_steps() replaces.
struct LifespanBound {
  int64_t time;
  bool is_begin;
  int64_t* bound;
};

}  // namespace

void contract_steps(std::vector<Item>& items) {
  std::vector<LifespanBound> events;
  events.reserve(2 * items.size());
  for (Item& item : items)
    for (Lifespan& span : item.lifespans) {
      events.push_back({span.lower, true, &span.lower});
      events.push_back({span.upper, false, &span.upper});
    }
  // Lifespans are half-open: at one time, ends sort before begins.
  std::sort(events.begin(), events.end(), [](const LifespanBound& a, const LifespanBound& b) {
    return a.time != b.time ? a.time < b.time : a.is_begin < b.is_begin;
  });
  int64_t step = -1;
  bool has_ended = true;
  for (const LifespanBound& event : events) {
    if (event.is_begin && has_ended) ++step;
    has_ended = !event.is_begin;
    *event.bound = event.is_begin ? step : step + 1;
  }
}

int64_t height_of(const Instance& instance, const std::vector<int64_t>& offsets) {
  int64_t height = 0;
  for (size_t i = 0; i < offsets.size(); ++i)
    height = std::max(height, offsets[i] + instance.items[i].size);
  return height;
}

namespace {

// The sum of `size_of(item)` over the items that are live, by step.
template <typename Size>
std::vector<int64_t> live_sums(const Instance& instance, Size size_of) {
  std::vector<int64_t> live(1);
  for (const Item& item : instance.items)
    for (const Lifespan& span : item.lifespans) {
      if (static_cast<size_t>(span.upper) >= live.size()) live.resize(span.upper + 1);
      live[span.lower] += size_of(item);
      live[span.upper] -= size_of(item);
    }
  std::partial_sum(live.begin(), live.end(), live.begin());
  live.pop_back();
  return live;
}

int64_t largest(const std::vector<int64_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

std::vector<int64_t> live_units(const Instance& instance) {
  return live_sums(instance, [](const Item& item) { return item.size; });
}

int64_t most_live_units(const Instance& instance) { return largest(live_units(instance)); }

int64_t lower_bound_of(const Instance& instance) {
  int64_t bound = most_live_units(instance);
  int64_t alignment = 0;
  for (const Item& item : instance.items) {
    alignment = std::gcd(alignment, item.alignment);
    if (item.offset) {
      bound = std::max(bound, *item.offset + item.size);
      alignment = std::gcd(alignment, *item.offset);
    }
  }
  if (alignment <= 1) return bound;
  // Every offset is a multiple of `alignment`, so each item but the topmost also occupies the bytes
  // up to the next multiple.
  auto padding = [&](const Item& item) { return (alignment - item.size % alignment) % alignment; };
  int64_t most = 0;
  for (const Item& item : instance.items) most = std::max(most, padding(item));
  const auto padded = live_sums(instance, [&](const Item& i) { return i.size + padding(i); });
  return std::max(bound, largest(padded) - most);
}

}  // namespace scopevm::plan

// The rounds of OrderSearch; see orders.h.
#include "runtime/plan/orders.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/plan/heuristics/first_fit.h"
#include "runtime/plan/heuristics/skyline.h"

namespace scopevm::plan {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
// Of logarithms: an item that ends too high is placed like one of twice its size. Heights differ by
// less than 0.3 % for values from 0.5 to 1 (5,000 random items); 0.1 and 2 are 0.7 % higher.
constexpr double kRaise = 0.7;
constexpr double kNoise = 0.3;

// The items in the order of descending keys.
template <typename Key>
std::vector<int32_t> order_by(const std::vector<Key>& keys) {
  std::vector<int32_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return keys[a] != keys[b] ? keys[a] > keys[b] : a < b; });
  return order;
}

}  // namespace

int64_t OrderSearch::run(int64_t target, const Deadline& slice, const Deadline& deadline,
                         std::vector<int64_t>& offsets) {
  int64_t height = height_of(instance_, offsets);
  while (height > target && !slice.is_over()) {
    std::vector<int64_t> placed;
    int64_t moves_left = kNoLimit;
    place_on_skyline(instance_, steps_, next_order(), deadline, moves_left, placed);
    if (!settle(placed, deadline)) break;
    raise_priorities(placed, target + (height - target) / 2);
    const int64_t placed_height = height_of(instance_, placed);
    if (placed_height >= height) continue;
    height = placed_height;
    offsets = std::move(placed);
  }
  return height;
}

// By size times a power of the length, noise and raises.
std::vector<int32_t> OrderSearch::next_order() {
  const double exponent = 0.5 + random();
  std::vector<double> keys(raises_.size());
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = std::log(static_cast<double>(instance_.items[i].size)) +
              exponent * std::log(static_cast<double>(steps_.length(static_cast<int32_t>(i)))) +
              kNoise * (random() - 0.5) + raises_[i];
  return order_by(keys);
}

// Turns the plan upside down and lets the items fall. Returns false at the deadline.
bool OrderSearch::settle(std::vector<int64_t>& offsets, const Deadline& deadline) const {
  std::vector<int64_t> ends(offsets.size());
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = end(static_cast<int32_t>(i), offsets);
  int64_t work_left = kNoLimit;
  return place_first_fit(instance_, steps_, order_by(ends), kNoLimit, deadline, work_left, offsets);
}

// Of the items that end above `most`.
void OrderSearch::raise_priorities(const std::vector<int64_t>& offsets, int64_t most) {
  for (size_t i = 0; i < raises_.size(); ++i)
    if (end(static_cast<int32_t>(i), offsets) > most) raises_[i] += kRaise;
}

}  // namespace scopevm::plan

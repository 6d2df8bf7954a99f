// OrderSearch: improves a plan by placing all items again, in other orders. For thousands of items,
// for which the exact search seldom finishes.
//
// Squeaky-wheel optimization (D. E. Joslin, D. P. Clements, 1999): each round places the items on a
// skyline in the order of their priorities, lets them settle, and raises the priorities of those
// that end too high.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "runtime/plan/deadline.h"
#include "runtime/plan/instance.h"
#include "runtime/plan/steps.h"

namespace scopevm::plan {

class OrderSearch {
 public:
  // REQUIRES: `instance` outlives this object.
  OrderSearch(const Instance& instance, uint64_t seed)
      : instance_(instance), steps_(instance), raises_(instance.items.size()), random_(seed) {}

  // Improves `offsets` (a valid plan) until the height is at most `target` or the slice of time is
  // over. The round at the end of the slice is completed, unless the deadline is over. Returns the
  // height. Later calls continue with the priorities of earlier ones.
  int64_t run(int64_t target, const Deadline& slice, const Deadline& deadline,
              std::vector<int64_t>& offsets);

 private:
  int64_t end(int32_t item, const std::vector<int64_t>& offsets) const {
    return offsets[item] + instance_.items[item].size;
  }
  double random() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  std::vector<int32_t> next_order();
  bool settle(std::vector<int64_t>& offsets, const Deadline& deadline) const;
  void raise_priorities(const std::vector<int64_t>& offsets, int64_t most);

  const Instance& instance_;
  const Steps steps_;
  std::vector<double> raises_;  // of the priorities, by item
  std::mt19937_64 random_;
};

}  // namespace scopevm::plan

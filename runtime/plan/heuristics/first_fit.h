// First-fit placement in a given order.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/plan/deadline.h"
#include "runtime/plan/heuristics/conflicts.h"
#include "runtime/plan/steps.h"

namespace scopevm::plan {

// A set of units: disjoint intervals that do not touch, ascending.
class IntervalSet {
 public:
  bool is_empty() const { return intervals_.empty(); }
  void add(int64_t lower, int64_t upper);
  // The end of the last of the consecutive intervals that an item of `size` units at `offset`
  // meets as it moves up; `offset` if it meets none.
  int64_t end_above(int64_t offset, int64_t size) const;

 private:
  std::vector<std::pair<int64_t, int64_t>> intervals_;
};

// The occupied units at each step, as a segment tree over steps. A node covers an interval of
// steps. It has the union of the items that occupy all its steps but not all of its parent's, and
// the union of the items that occupy any of its steps. Unions merge intervals that touch, so dense
// plans have few intervals per node.
class FirstFit {
 public:
  explicit FirstFit(int32_t steps);

  // The lowest free offset for an item that is live in `ranges`.
  int64_t find(std::span<const StepRange> ranges, int64_t size, int64_t alignment);
  bool is_free(std::span<const StepRange> ranges, int64_t offset, int64_t size);
  void place(std::span<const StepRange> ranges, int64_t offset, int64_t size);
  // The number of interval sets that find() has searched, a measure of its time.
  int64_t work() const { return work_; }

 private:
  struct Node {
    IntervalSet throughout;
    IntervalSet sometimes;
  };

  void collect(StepRange range);

  int32_t size_ = 1;
  std::vector<Node> nodes_;                // node k has the children 2k and 2k + 1
  std::vector<const IntervalSet*> found_;  // of find(): the sets that intersect the lifespan
  int64_t work_ = 0;
};

// Places the items in `order` after those with required offsets, each at the lowest free offset.
// Stops before an item would end above `limit`, when its work() exceeds `work_left`, which is
// decreased by it, or at the deadline. Returns whether all items are placed.
bool place_first_fit(const Instance& instance, const Steps& steps,
                     const std::vector<int32_t>& order, int64_t limit, const Deadline& deadline,
                     int64_t& work_left, std::vector<int64_t>& offsets);

// The same without limits of work, in O(n^2) time. Faster for a few hundred items.
bool place_first_fit(const Instance& instance, const Conflicts& conflicts,
                     const std::vector<int32_t>& order, int64_t limit,
                     std::vector<int64_t>& offsets);

}  // namespace scopevm::plan

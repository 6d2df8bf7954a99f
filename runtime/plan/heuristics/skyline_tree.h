// SkylineTree: the height of the placed items at each step, and the lowest step with waiting items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/plan/steps.h"

namespace scopevm::plan {

// A segment tree with lazy assignment. O(log n) time per operation.
class SkylineTree {
 public:
  static constexpr int32_t kNoRank = std::numeric_limits<int32_t>::max();
  struct Peak {
    int64_t height = -1;
    int32_t step = 0;
  };

  // `live` is the number of live units at each step.
  explicit SkylineTree(std::vector<int64_t> live);

  // The least rank among the waiting ranks of the lowest steps, or kNoRank if none waits.
  int32_t lowest_rank() const { return nodes_[1].lowest_rank; }
  // The height of the steps with waiting ranks that are lowest. REQUIRES: a rank waits.
  int64_t lowest_height() const { return nodes_[1].low; }
  // Sets the least rank that waits at a step, or kNoRank.
  void set_rank(int32_t step, int32_t rank) { set_rank(1, whole(), step, rank); }
  // Sets the height of a range of steps.
  void assign(StepRange range, int64_t height) { assign(1, whole(), range, height); }
  // The largest height in a range, and of the steps that have it, the one with the most live units.
  Peak peak(StepRange range) const {
    Peak peak;
    find_peak(1, whole(), range, peak);
    return peak;
  }

 private:
  static constexpr int64_t kNoHeight = std::numeric_limits<int64_t>::max();
  struct Node {
    Peak top;
    int64_t low = kNoHeight;        // the least height of a step with a waiting rank
    int32_t lowest_rank = kNoRank;  // the least rank among the steps of height `low`
    int32_t rank = kNoRank;         // the least rank
    int32_t busiest = 0;            // the step with the most live units
    bool is_level = true;           // all steps have the same height; the children can be outdated
  };

  StepRange whole() const { return {0, static_cast<int32_t>(size_)}; }
  int32_t busier(int32_t a, int32_t b) const { return live_[b] > live_[a] ? b : a; }
  void raise(Peak& peak, Peak other) const {
    if (other.height > peak.height ||
        (other.height == peak.height && live_[other.step] > live_[peak.step]))
      peak = other;
  }
  void set_height(size_t index, int64_t height);
  void push_down(size_t index);
  void pull_up(size_t index);
  void set_rank(size_t index, StepRange covered, int32_t step, int32_t rank);
  void assign(size_t index, StepRange covered, StepRange range, int64_t height);
  void find_peak(size_t index, StepRange covered, StepRange range, Peak& peak) const;
  void find_busiest(size_t index, StepRange covered, StepRange range, Peak& peak) const;

  size_t size_ = 1;
  std::vector<int64_t> live_;
  std::vector<Node> nodes_;  // node k has the children 2k and 2k + 1
};

}  // namespace scopevm::plan

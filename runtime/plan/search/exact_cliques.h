// Cliques: the maximal sets of items that are live at one step, in order of time. Two items
// conflict if and only if they share a clique, so the searches need no other steps. MiniMalloc
// calls a set of items that are live between two adjacent events a section; cliques are its maximal
// sections.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/plan/instance.h"

namespace scopevm::plan {

// The cliques `[begin, end)`. `entry` is the index of (item, begin) among all pairs of an item and
// one of its cliques.
struct CliqueRange {
  int32_t begin = 0;
  int32_t end = 0;
  int32_t entry = 0;
};

class Cliques {
 public:
  // O(lifespans * log(lifespans)) time and space.
  explicit Cliques(const Instance& instance);

  int32_t count() const { return count_; }
  // The number of pairs of an item and one of its cliques.
  int64_t entries() const { return entries_; }
  // The ranges of an item, ascending, with at least one clique between two ranges.
  std::span<const CliqueRange> of(int32_t item) const {
    return {ranges_.data() + first_[item], ranges_.data() + first_[item + 1]};
  }
  // True if no item has more than one range.
  bool contiguous() const { return ranges_.size() + 1 == first_.size(); }

 private:
  void append_ranges(const Item& item, const std::vector<int64_t>& peaks);

  int32_t count_ = 0;
  int64_t entries_ = 0;
  std::vector<CliqueRange> ranges_;
  std::vector<int32_t> first_;
};

// The largest sum of the sizes of items that share a clique: no plan has a smaller height.
int64_t clique_bound(const Instance& instance, const Cliques& cliques);

}  // namespace scopevm::plan

// Cliques: the maximal sets of items that are live at one step, in order of time. Two items
// conflict if and only if they share a clique. After contract_steps(), each step is a clique.
// MiniMalloc calls a set of items that are live between two adjacent events a section; cliques are
// its maximal sections.
#pragma once

#include <algorithm>
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
  // REQUIRES: contract_steps().
  explicit Cliques(const Instance& instance) {
    first_.push_back(0);
    for (const Item& item : instance.items) {
      for (const Lifespan& lifespan : item.lifespans) add(lifespan);
      first_.push_back(static_cast<int32_t>(ranges_.size()));
    }
  }

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
  void add(const Lifespan& lifespan) {
    const auto begin = static_cast<int32_t>(lifespan.lower);
    const auto end = static_cast<int32_t>(lifespan.upper);
    count_ = std::max(count_, end);
    if (static_cast<int32_t>(ranges_.size()) > first_.back() && ranges_.back().end == begin)
      ranges_.back().end = end;
    else
      ranges_.push_back({begin, end, static_cast<int32_t>(entries_)});
    entries_ += end - begin;
  }

  int32_t count_ = 0;
  int64_t entries_ = 0;
  std::vector<CliqueRange> ranges_;
  std::vector<int32_t> first_;
};

}  // namespace scopevm::plan

// Lifespans of an instance in a compact form, and figures of instances and plans.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/plan/instance.h"

namespace scopevm::plan {

// A half-open interval of steps. 32 bits, because the placements are bound by memory accesses.
struct StepRange {
  int32_t lower = 0;
  int32_t upper = 0;
};

// The lifespans of all items in one array.
class Steps {
 public:
  // REQUIRES: lifespans are within [0, 2^31): see contract_steps().
  explicit Steps(const Instance& instance);

  std::span<const StepRange> of(int32_t item) const {
    return {ranges_.data() + first_[item], ranges_.data() + first_[item + 1]};
  }
  int32_t first_step(int32_t item) const { return ranges_[first_[item]].lower; }
  int32_t end_step(int32_t item) const { return ranges_[first_[item + 1] - 1].upper; }
  // The number of steps in which the item is live.
  int64_t length(int32_t item) const;
  // All steps are less than it.
  int32_t count() const { return count_; }

 private:
  std::vector<StepRange> ranges_;
  std::vector<size_t> first_;  // by item, and the size of ranges_
  int32_t count_ = 0;
};

// Renumbers the steps of all lifespans so that two lifespans overlap after it if and only if they
// overlap before it. The new steps are 0 to k - 1, where each step k is the first step at which a
// lifespan begins after another one ended: the maximal sets of lifespans that overlap.
void contract_steps(std::vector<Item>& items);

// The largest end of an item.
int64_t height_of(const Instance& instance, const std::vector<int64_t>& offsets);

// The number of live units at each step. REQUIRES: contract_steps().
std::vector<int64_t> live_units(const Instance& instance);

// The largest of live_units(): no plan has a smaller height.
int64_t most_live_units(const Instance& instance);

// No plan has a smaller height: the largest number of live units, with sizes rounded up to the
// common alignment if that is larger, and the largest end of an item with a required offset.
// REQUIRES: contract_steps().
int64_t lower_bound_of(const Instance& instance);

}  // namespace scopevm::plan

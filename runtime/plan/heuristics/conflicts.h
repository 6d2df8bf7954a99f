// Conflicts: for each item, the items with which it must not share memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/plan/steps.h"

namespace scopevm::plan {

// O(n^2) time and memory: for small instances.
class Conflicts {
 public:
  Conflicts(const Instance& instance, const Steps& steps);

  std::span<const int32_t> of(int32_t item) const {
    return {items_.data() + first_[item], items_.data() + first_[item + 1]};
  }

 private:
  std::vector<int32_t> items_;
  std::vector<size_t> first_;  // by item, and the size of items_
};

}  // namespace scopevm::plan

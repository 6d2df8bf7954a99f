// Priorities of items for restarts of the exact search.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "runtime/plan/instance.h"
#include "runtime/plan/search/exact_search.h"

namespace scopevm::plan {

// Large items first, weighted by duration and noise.
class PriorityGenerator {
 public:
  PriorityGenerator(const Instance& instance, uint64_t seed);
  // Sets the search's priorities.
  void next(ExactSearch& search);

  // In [0, 1).
  double random();

 private:
  std::vector<double> log_size_;
  std::vector<double> log_duration_;
  std::mt19937_64 random_;
  int64_t calls_ = 0;
};

}  // namespace scopevm::plan

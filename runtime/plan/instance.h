// Instance: the form of a problem that the searches take: one pool, no views, sizes and offsets in
// units of the greatest common divisor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scopevm/plan.h"

namespace scopevm::plan {

struct Item {
  int64_t size = 0;                 // units, > 0
  int64_t alignment = 1;            // units
  std::optional<int64_t> offset;    // required offset, units
  std::vector<Lifespan> lifespans;  // ascending, disjoint
};

struct Instance {
  std::vector<Item> items;
};

enum class SearchOutcome { kFound, kInfeasible, kTimeout };

// Both functions REQUIRE contract_steps().

// Searches for offsets with height <= capacity until the thread has used `time_limit_s` of CPU
// time.
SearchOutcome search_exact(const Instance& instance, int64_t capacity, double time_limit_s,
                           std::vector<int64_t>& offsets);

// Improves `offsets` (a valid plan) until the height is at most `target` or time is over. Returns
// the height.
int64_t improve(const Instance& instance, int64_t target, double time_limit_s, uint64_t seed,
                std::vector<int64_t>& offsets);

}  // namespace scopevm::plan

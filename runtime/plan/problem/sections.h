// Sections: the parts of a problem that can be solved independently.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/instance.h"
#include "runtime/plan/problem/groups.h"

namespace scopevm::plan {

// The groups of one pool during a time in which some group is live at every step.
struct Section {
  Instance instance;
  int64_t unit = 1;              // bytes
  int64_t capacity = 0;          // units: the limit of the pool or of the options
  std::vector<int> groups;       // by item
  std::vector<int64_t> offsets;  // by item, units: the best plan
  int64_t height = 0;            // units, of `offsets`
  int64_t lower_bound = 0;       // units: no plan has a smaller height
  const char* solver = "";       // the part of the portfolio that made `offsets`

  int64_t height_bytes() const { return height * unit; }
  int64_t bound_bytes() const { return lower_bound * unit; }
};

// Divides the groups by `pools` and time; omits groups without bytes. `limits`, by pool, is in
// bytes.
std::vector<Section> split(const Groups& groups, const std::vector<int>& pools,
                           const std::vector<int64_t>& limits);

}  // namespace scopevm::plan

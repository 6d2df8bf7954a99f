// The cost of an assignment: the time of its copies and accesses, then the tasks that are not on
// their preferred device.
#pragma once

#include <compare>
#include <cstdint>

namespace scopevm::compiler::placement {

// Compared lexicographically. Costs form an ordered abelian group, which is all that a maximum-flow
// algorithm requires of its capacities.
struct Cost {
  int64_t time = 0;       // of copies and accesses, picoseconds
  int64_t displaced = 0;  // tasks that are not on their preferred device
  friend Cost operator+(Cost a, Cost b) { return {a.time + b.time, a.displaced + b.displaced}; }
  friend Cost operator-(Cost a, Cost b) { return {a.time - b.time, a.displaced - b.displaced}; }
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

}  // namespace scopevm::compiler::placement

// Which device each task gets: placement without the graph.
//
// A task is what must lie on one device: an op, a parameter, a result. A flow is a value: the task
// that makes it and those that read it. Where a reader cannot reach the pool that the value lies
// in, a copy is made; readers share the copies of a value. The assignment that is sought has the
// least sum of the copies' costs, and among these the fewest tasks off the devices that they
// prefer.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/machine/machine.h"

namespace scopevm::compiler::placement {

inline constexpr int kAny = -1;
// As a pool: the "global" of the task's own device, whichever that is. Numbers below are other
// scopes of it.
inline constexpr int kOwn = -2;
int own_scope(const Machine& machine, std::string_view scope);
// The pool that one means for a task on this device.
int pool_at(const Machine& machine, int device, int pool);
std::string_view scope_of(const Machine& machine, int pool);

struct Task {
  std::vector<int> devices;  // those that it may have, ascending; at least one
  int preferred = 0;         // where it goes when that costs no copy
};

struct Reader {
  int task = 0;
  int pool = kAny;  // where it wants the value, when not just in reach
};

struct Flow {
  int maker = 0;
  int pool = kAny;       // where the value must lie; kAny: in the best pool that its maker reaches
  bool is_free = false;  // a constant: every device has its own
  double bytes = 0;
  double times = 1;  // how often it is made in a call
  std::vector<Reader> readers;
};

struct Problem {
  const Machine* machine = nullptr;
  std::vector<Task> tasks;
  std::vector<Flow> flows;
};

// Lexicographic. Addition and comparison make it an ordered group, which is all that a flow network
// asks of its capacities.
struct Cost {
  int64_t copies = 0;     // picoseconds
  int64_t displaced = 0;  // tasks that are not on the device that they prefer
  friend Cost operator+(Cost a, Cost b) { return {a.copies + b.copies, a.displaced + b.displaced}; }
  friend Cost operator-(Cost a, Cost b) { return {a.copies - b.copies, a.displaced - b.displaced}; }
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

// How a value gets to its readers.
struct Route {
  int home = 0;             // pool
  std::vector<int> copies;  // pools that get one, ascending
  int64_t cost = 0;         // of all copies, picoseconds
};

struct Assignment {
  std::vector<int> devices;  // by task
  Cost cost;
  bool is_proved = false;  // no assignment is cheaper
};

// The cheapest way to the readers whose tasks have a device; those with kAny are left out, and so
// is everything while the maker has none.
Route route_of(const Problem& problem, const Flow& flow, const std::vector<int>& devices);

Cost cost_of(const Problem& problem, const std::vector<int>& devices);

// Two devices and no scopes asked for: a minimum cut. Otherwise cuts between pairs of devices until
// none helps, then branch and bound as far as `nodes` reach, where tasks are few.
Assignment assign(const Problem& problem, int64_t nodes = 200'000);

}  // namespace scopevm::compiler::placement

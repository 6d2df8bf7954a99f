// Which device each task gets: placement without the graph.
//
// A task is an op, a parameter or a result: it is placed on one device. A flow is a value: the task
// that makes it and those that read it. A reader that does not reach the value's pool reads a copy;
// readers share the copies of a value. The solver minimises the sum of the copies' costs, then the
// number of tasks that are not on their preferred device.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/placement/pool_requirement.h"

namespace scopevm::compiler::placement {

using TaskIndex = isa::Index<struct TaskTag>;  // Problem::tasks
using FlowIndex = isa::Index<struct FlowTag>;  // Problem::flows

struct Task {
  std::vector<DeviceIndex> devices;  // the permitted ones, ascending; at least one
  DeviceIndex preferred;             // used if that costs no copy
};

struct Reader {
  TaskIndex task;
  PoolRequirement pool;
};

struct Flow {
  TaskIndex maker;
  PoolRequirement pool;
  bool is_free = false;  // a constant: every device has its own
  double bytes = 0;
  double times = 1;  // how often it is made in a call
  std::vector<Reader> readers;
};

struct Problem {
  const Machine* machine = nullptr;
  IndexedVector<TaskIndex, Task> tasks;
  IndexedVector<FlowIndex, Flow> flows;
};

// The device of each task; none where it is still open.
using Devices = IndexedVector<TaskIndex, std::optional<DeviceIndex>>;

// Lexicographic. Addition and comparison make it an ordered group: a flow network needs no more of
// its capacities.
struct Cost {
  int64_t copies = 0;     // picoseconds
  int64_t displaced = 0;  // tasks that are not on the device that they prefer
  friend Cost operator+(Cost a, Cost b) { return {a.copies + b.copies, a.displaced + b.displaced}; }
  friend Cost operator-(Cost a, Cost b) { return {a.copies - b.copies, a.displaced - b.displaced}; }
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

// How a value gets to its readers.
struct Route {
  PoolIndex home;
  std::vector<PoolIndex> copies;  // pools that get one, ascending
  int64_t cost = 0;               // of all copies, picoseconds
};

struct Assignment {
  Devices devices;  // none is open
  Cost cost;
  bool is_proved = false;  // no assignment is cheaper
};

// The cheapest route to the readers whose tasks have a device; no route if the maker has none.
Route route_of(const Problem& problem, const Flow& flow, const Devices& devices);

Cost cost_of(const Problem& problem, const Devices& devices);

// Two devices and no required scopes: a minimum cut. Otherwise cuts between pairs of devices until
// none helps; then, if there are few tasks, branch and bound over at most `nodes` nodes.
Assignment assign(const Problem& problem, int64_t nodes = 200'000);

}  // namespace scopevm::compiler::placement

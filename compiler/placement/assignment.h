// The placement problem, independent of MLIR: assigns a device to each task.
//
// A task is an op, a parameter, a result or a placement-only node. It is placed on one device. A
// flow is a value with the task that makes it and the tasks that read it. A reader reads a copy if
// its device does not reach the value's pool, or if it requires another pool. Readers share the
// copies of a value. The solver minimises the total cost of the copies, then the number of tasks
// that are not on their preferred device.
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
  std::vector<DeviceIndex> devices;  // permitted devices, ascending; at least one
  DeviceIndex preferred;             // breaks ties between assignments of equal copy cost
};

struct Reader {
  TaskIndex task;
  PoolRequirement pool;
};

struct Flow {
  TaskIndex maker;
  PoolRequirement pool;
  bool is_free = false;   // a constant: loaded on every device that reads it, without copies
  double bytes = 0;       // at representative dims
  double most_bytes = 0;  // the most at any dims
  double times = 1;       // executions of the maker per call of the model
  std::vector<Reader> readers;
};

struct Problem {
  const Machine* machine = nullptr;
  IndexedVector<TaskIndex, Task> tasks;
  IndexedVector<FlowIndex, Flow> flows;
  // Whether a pool with a limit may be chosen for a value that is not required in it.
  bool may_choose_limited = true;
  // Pools that may not be chosen for values that are not required in them, ascending.
  std::vector<PoolIndex> avoided;
};

// The device of each task; none for a task that is not assigned yet.
using Devices = IndexedVector<TaskIndex, std::optional<DeviceIndex>>;

// Compared lexicographically. Costs form an ordered abelian group, which is all that a maximum-flow
// algorithm requires of its capacities.
struct Cost {
  int64_t copies = 0;     // picoseconds
  int64_t displaced = 0;  // tasks that are not on their preferred device
  friend Cost operator+(Cost a, Cost b) { return {a.copies + b.copies, a.displaced + b.displaced}; }
  friend Cost operator-(Cost a, Cost b) { return {a.copies - b.copies, a.displaced - b.displaced}; }
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

// The pools that store a value and its copies.
struct Route {
  PoolIndex home;                 // stores the value itself
  std::vector<PoolIndex> copies;  // pools that store a copy, ascending
  int64_t cost = 0;               // of all copies, picoseconds
};

struct Assignment {
  Devices devices;  // every task has one
  Cost cost;
  bool is_proved = false;  // the assignment is proved optimal
};

// The cheapest route to the readers whose tasks have a device; an empty route if the maker has
// none. REQUIRES: the maker's device has the scope that the flow requires.
Route route_of(const Problem& problem, const Flow& flow, const Devices& devices);

Cost cost_of(const Problem& problem, const Devices& devices);

// With two devices, no shared pools and no required scopes, one minimum cut gives the exact
// solution (Stone, 1977). In general, swap moves alternate with moves of single tasks until neither
// improves the cost. A swap move is a minimum cut for one pair of devices (Boykov, Veksler, Zabih,
// 2001). Then, if few tasks have several permitted devices, branch and bound over at most `nodes`
// nodes follows. If the result is not proved optimal, the search is repeated without some of the
// additional pools, so that describing one does not make the result more expensive. Deterministic.
Assignment assign(const Problem& problem, int64_t nodes = 200'000);

}  // namespace scopevm::compiler::placement

// The placement problem, independent of MLIR: its tasks and flows.
//
// A task is an op, a parameter, a result or a placement-only node. It is placed on one device. A
// flow is a value with the task that makes it and the tasks that read it. A reader reads a copy if
// its device does not reach the value's pool, or if it requires another pool. Readers share the
// copies of a value. The solver minimises the total time of the copies, and of the accesses of the
// tasks to the pools of the values that they read and make; then the number of tasks that are not
// on their preferred device.
#pragma once

#include <optional>
#include <vector>

#include "compiler/machine/machine.h"
#include "compiler/placement/pool_requirement.h"

namespace scopevm::compiler::placement {

using TaskIndex = isa::Index<struct TaskTag>;  // Problem::tasks
using FlowIndex = isa::Index<struct FlowTag>;  // Problem::flows

struct Task {
  std::vector<DeviceIndex> devices;  // permitted devices, ascending; at least one
  DeviceIndex preferred;             // breaks ties between assignments of equal time
};

struct Reader {
  TaskIndex task;
  PoolRequirement pool;
  double reads = 0;        // transfers of the value by the task's kernels per call of the model
  bool is_result = false;  // of the model: callers read it in the host's memory
};

struct Flow {
  TaskIndex maker;
  PoolRequirement pool;
  bool is_free = false;   // a constant: stored on every device that reads it, without copies
  bool is_input = false;  // of the model: callers store it in the host's memory
  double bytes = 0;       // at representative dims
  double most_bytes = 0;  // the most at any dims
  double times = 1;       // executions of the maker per call of the model, and of each copy
  double writes = 0;      // transfers of the value by the maker's kernels per call of the model
  std::vector<Reader> readers;
};

struct Problem {
  const Machine* machine = nullptr;
  IndexedVector<TaskIndex, Task> tasks;
  IndexedVector<FlowIndex, Flow> flows;
  // Whether a pool with a limit may be chosen for a value that is not required in it.
  bool may_choose_limited = true;
};

// The device of each task; none for a task that is not assigned yet.
using Devices = IndexedVector<TaskIndex, std::optional<DeviceIndex>>;

}  // namespace scopevm::compiler::placement

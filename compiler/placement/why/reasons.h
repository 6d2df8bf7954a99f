// Words why placement inserts a copy. Private to compiler/placement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/placement/graph_problem.h"
#include "compiler/placement/solve/assignment.h"
#include "compiler/placement/why/copies.h"

namespace scopevm::compiler::placement {

class Reasons {
 public:
  Reasons(const GraphProblem& graph, const Assignment& assignment)
      : graph_(graph), machine_(*graph.problem.machine), assignment_(assignment) {}

  // The reason for a copy of the flow's value from `from` to `to`, for these uses. A copy that an
  // earlier placement inserted keeps its reason.
  CopyReason of_copy(FlowIndex f, PoolIndex from, PoolIndex to, const std::vector<Use>& uses);
  // Why an input of the model has its device.
  std::string of_input(mlir::Value input);

 private:
  std::string why_stored(FlowIndex f, PoolIndex from, PoolIndex to);
  std::string why_read(FlowIndex f, size_t reader, PoolIndex from, PoolIndex to);
  std::string why(TaskIndex task);
  const Constraint* constraint_of(TaskIndex task) const;
  std::optional<TaskIndex> nearest_constraint(TaskIndex task);
  void find_neighbours();

  const Flow& flow(FlowIndex f) const { return graph_.problem.flows[f]; }
  DeviceIndex device(TaskIndex task) const { return *assignment_.devices[task]; }
  const std::string& device_name(DeviceIndex device) const { return machine_.devices[device].name; }

  const GraphProblem& graph_;
  const Machine& machine_;
  const Assignment& assignment_;
  IndexedVector<TaskIndex, std::vector<TaskIndex>> neighbours_;  // filled by find_neighbours()
};

}  // namespace scopevm::compiler::placement

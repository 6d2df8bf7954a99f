// Builds tasks and flows with their placement constraints. constraints.cpp visits the ops, and
// rules.cpp adds the rules of --place. Private to compiler/placement.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/dims/representative.h"
#include "compiler/placement/graph_problem.h"
#include "compiler/placement/read/annotations.h"
#include "llvm/ADT/DenseMap.h"

namespace scopevm::compiler::placement {

inline graph::TensorType tensor_of(mlir::Value value) {
  return mlir::dyn_cast<graph::TensorType>(value.getType());
}

class ProblemBuilder {
 public:
  ProblemBuilder(const Machine& machine, const Annotations& annotations)
      : machine_(machine), annotations_(annotations) {
    graph_.problem.machine = &machine;
  }

  GraphProblem& graph() { return graph_; }
  // The first error.
  const Status& status() const { return status_; }
  // None for lists and closures.
  std::optional<FlowIndex> flow_of(mlir::Value value) const;

  // Begins the body of a function that runs `times` per call of the model, at these representative
  // dims.
  void enter(mlir::Block& block, double times, DimValues dims);
  // Executions of the current op per call of the model.
  double times() const { return times_; }
  void set_times(double times) { times_ = times; }
  // Representative dims of the current function.
  const DimValues& dims() const { return dims_; }

  TaskIndex new_task(std::string name, mlir::Operation* op = nullptr);
  void constrain(TaskIndex task, const Constraint& wanted);
  // The constraint on a task's device that contradicts `place`; null if none does.
  const Constraint* conflicting(const TaskRecord& task, const RequiredPlace& place) const;
  // `on gpu (sv.on_device "gpu" at model.mlir:3:8)`. REQUIRES: place.names_device().
  std::string required_on(const Constraint& constraint) const;
  void on_host(TaskIndex task, const std::string& why, mlir::Location location);
  std::optional<RequiredPlace> place_of(llvm::StringRef text, const std::string& where);
  void fail(const std::string& where, const std::string& message);

  // Adds a flow: `task` makes `value`, in `pool` because of `scope`. A place in the value's type is
  // a further constraint. Has no effect on lists and closures.
  // `is_written`: a kernel of the task writes it.
  void make(mlir::Value value, TaskIndex task, PoolRequirement pool, mlir::Location location,
            std::optional<Constraint> scope = {}, bool is_written = false);
  // Removes the accesses of values that are temporaries of kernels.
  void drop_local_accesses();

  // Requires the value at a place, and therefore its maker on the place's device. Has no effect on
  // a constant if the place has no scope.
  void place_value(mlir::Value value, llvm::StringRef text, const std::string& by,
                   mlir::Location location);

  // Adds a reader: `task` reads the operand from a pool that satisfies `pool`. `is_accessed`: a
  // kernel of the task reads its bytes.
  void read(mlir::OpOperand& operand, TaskIndex task, PoolRequirement pool = {},
            std::optional<Constraint> scope = {}, bool is_accessed = false);

  // Writes the scopes that are required for tasks without an op to their flows and readers.
  void apply_required_scopes();

  // Requires that the value is a temporary of a kernel.
  void require_local(mlir::Value value, const Constraint& wanted);

  // Excludes all other devices. For strings, which cannot be copied.
  void restrict_to_host(TaskIndex task);
  bool may_be(TaskIndex task, DeviceIndex device) const;
  // Whether one of the devices that are permitted for the task satisfies `place`.
  bool may_be(TaskIndex task, const RequiredPlace& place) const;
  // Why may_be() is false.
  std::string why_not(TaskIndex task, const RequiredPlace& place) const;
  std::string device_name(DeviceIndex device) const { return machine_.devices[device].name; }

 private:
  void constrain_scope(TaskIndex task, const Constraint& wanted);
  // Requires a scope for all values of a task without an op, such as a placement-only node.
  // apply_required_scopes() writes these scopes to the flows and their readers.
  void require_scope(TaskIndex task, const Constraint& wanted);
  // "gpu" or "a device of kind opencl". REQUIRES: place.names_device().
  std::string device_text(const RequiredPlace& place) const;

  // Bytes of a tensor at representative dims.
  double bytes_of(graph::TensorType type) const;
  // The most bytes of a tensor at any dims.
  static double most_bytes_of(graph::TensorType type);

  // Elements of string tensors are indices into a table of the call, which only the VM and kernels
  // of the host can read.
  static constexpr char kNoStrings[] = "string tensors are stored on the host";

  const Machine& machine_;
  const Annotations& annotations_;
  std::map<TaskIndex, Constraint> required_scopes_;  // of tasks without an op
  GraphProblem graph_;
  llvm::DenseMap<mlir::Value, FlowIndex> flow_of_;
  DimValues dims_;
  double times_ = 1;
  Status status_;
};

}  // namespace scopevm::compiler::placement

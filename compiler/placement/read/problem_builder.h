// Builds tasks and flows with their placement constraints. constraints.cpp visits the ops and calls
// FlowReader. Private to compiler/placement.
//   problem_builder.cpp  tasks and their constraints; values, their makers and readers
//   rules.cpp            the rules of --place
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/placement/graph_problem.h"
#include "compiler/shapes/representative.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/GlobPattern.h"

namespace scopevm::compiler::placement {

inline graph::TensorType tensor_of(mlir::Value value) {
  return mlir::dyn_cast<graph::TensorType>(value.getType());
}

class FlowReader {
 public:
  FlowReader(const Machine& machine, const std::vector<Rule>& rules)
      : machine_(machine), rules_(rules) {
    graph_.problem.machine = &machine;
    graph_.matched.assign(rules.size(), false);
  }

 protected:
  TaskIndex new_task(std::string name, mlir::Operation* op = nullptr);
  // The value that a chain of annotations constrains: the operand of the innermost one, or the
  // result of the first one that is a copy. Returns any other value unchanged.
  mlir::Value annotated(mlir::Value value) const;
  void constrain(TaskIndex task, const Constraint& wanted);
  void constrain_scope(TaskIndex task, const Constraint& wanted);
  // The constraint on a task's device that contradicts `place`; null if none does.
  const Constraint* conflicting(const TaskRecord& task, const RequiredPlace& place) const;
  // `on gpu (sv.on_device "gpu" at model.mlir:3:8)`. REQUIRES: place.names_device().
  std::string required_on(const Constraint& constraint) const;
  void on_host(TaskIndex task, const std::string& why, mlir::Location location);
  std::string device_name(DeviceIndex device) const { return machine_.devices[device].name; }
  std::optional<RequiredPlace> place_of(llvm::StringRef text, const std::string& where);
  void fail(const std::string& where, const std::string& message);

  // Bytes of a tensor at representative dims.
  double bytes_of(graph::TensorType type) const;
  // The most bytes of a tensor at any dims.
  static double most_bytes_of(graph::TensorType type);

  // Adds a flow: `task` makes `value`, in `pool` because of `scope`. A place in the value's type is
  // a further constraint. Has no effect on lists and closures.
  void make(mlir::Value value, TaskIndex task, PoolRequirement pool, mlir::Location location,
            std::optional<Constraint> scope = {});

  // Requires the value at a place, and therefore its maker on the place's device. Has no effect on
  // a constant if the place has no scope.
  void place_value(mlir::Value value, llvm::StringRef text, const std::string& by,
                   mlir::Location location);

  // Adds a reader: `task` reads the operand from a pool that satisfies `pool`.
  void read(mlir::OpOperand& operand, TaskIndex task, PoolRequirement pool = {},
            std::optional<Constraint> scope = {});

  // Requires a scope for all values of a task without an op, such as a placement-only node.
  // apply_required_scopes() writes these scopes to the flows and their readers.
  void require_scope(TaskIndex task, const Constraint& wanted);
  void apply_required_scopes();

  // Elements of string tensors are indices into a table of the call, which only the VM and kernels
  // of the host can read.
  static constexpr char kNoStrings[] = "string tensors are stored on the host";
  static bool is_string(mlir::Type type);
  static bool has_strings(mlir::Operation* op);
  // Requires that the value is a temporary of a kernel.
  void require_local(mlir::Value value, const Constraint& wanted);

  void restrict_to_cpus(TaskIndex task);
  bool may_be(TaskIndex task, DeviceIndex device) const;
  // Whether one of the devices that are permitted for the task satisfies `place`.
  bool may_be(TaskIndex task, const RequiredPlace& place) const;
  // Why may_be() is false.
  std::string why_not(TaskIndex task, const RequiredPlace& place) const;
  // "gpu" or "a device of kind opencl". REQUIRES: place.names_device().
  std::string device_text(const RequiredPlace& place) const;

  // A task that rules may place. `names` are in order of precedence.
  struct Ruled {
    TaskIndex task;
    std::vector<std::pair<Rule::Kind, std::string>> names;
    std::vector<mlir::Value> values;
  };
  // Errors: kInvalidArgument (an invalid pattern), kInvalidModel (a place that the machine lacks).
  Status read_rules();

  // Applies the rules that match the task. The device and the scope each come from the first
  // applicable rule: by the order of `names`, then the last rule first. Constraints of the graph
  // take precedence. REQUIRES: all constraints of the graph have been read.
  void apply_rules(const Ruled& ruled);
  // Whether the graph requires a scope of the task.
  bool has_required_scope(const Ruled& ruled) const;
  void store_in(const Constraint& rule, const Ruled& ruled);

  // Places results of the model without a constraint on the default device, if it is permitted for
  // them.
  void place_results();

  const Machine& machine_;
  const std::vector<Rule>& rules_;
  std::vector<llvm::GlobPattern> patterns_;
  std::vector<RequiredPlace> rule_places_;
  std::vector<Ruled> ruled_;
  std::vector<TaskIndex> model_results_;
  std::map<TaskIndex, Constraint> required_scopes_;  // of tasks without an op
  GraphProblem graph_;
  llvm::DenseMap<mlir::Value, FlowIndex> flow_of_;
  llvm::DenseSet<mlir::Operation*> copies_;  // sv.on_device ops that copy
  DimValues dims_;                           // representative dims of the current function
  double times_ = 1;                         // executions of the current op per call of the model
  Status status_;
};

}  // namespace scopevm::compiler::placement

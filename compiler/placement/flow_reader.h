// What reading a graph needs of tasks and flows, whatever the op: demands, places, rules. Private
// to compiler/placement.
//   flow_reader.cpp  tasks and what they must; values, who makes them and who reads them
//   rules.cpp        what --place asks for
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/placement/constraints.h"
#include "compiler/shapes/representative.h"
#include "llvm/Support/GlobPattern.h"

namespace scopevm::compiler::placement {

inline graph::TensorType tensor_of(mlir::Value value) {
  return mlir::dyn_cast<graph::TensorType>(value.getType());
}

// That a loop counts as copies of its body; `value_of` gives dims a number.
double trips_of(graph::LoopOp loop, const std::function<double(DimExpr)>& value_of);

class FlowReader {
 public:
  FlowReader(const Machine& machine, const std::vector<Rule>& rules)
      : machine_(machine), rules_(rules) {
    graph_.problem.machine = &machine;
    graph_.matched.assign(rules.size(), false);
  }

 protected:
  TaskIndex new_task(std::string name, mlir::Operation* op = nullptr);
  void demand(TaskIndex task, Demand wanted);
  void demand_scope(TaskIndex task, Demand wanted);
  void on_host(TaskIndex task, const std::string& why, mlir::Location location);
  std::string device_name(DeviceIndex device) const { return machine_.devices[device].name; }
  std::optional<Place> place_of(llvm::StringRef text, const std::string& where);
  void fail(const std::string& where, const std::string& message);

  // At representative dims.
  double bytes_of(graph::TensorType type) const;

  // `value` is made by the task. Its type may require a place.
  void make(mlir::Value value, TaskIndex task, PoolRequirement pool, mlir::Location location);

  // The value is stored at a place: so its maker is on the device.
  void place_value(mlir::Value value, llvm::StringRef text, const std::string& by,
                   mlir::Location location);

  // The task reads the operand, from a pool that satisfies `pool`.
  void read(mlir::OpOperand& operand, TaskIndex task, PoolRequirement pool = {});

  // A task without an op is a placement-only node: all its values are stored in the scope.
  void require_scope(TaskIndex task, const Demand& wanted);
  void apply_stores();

  // Texts are numbers into a table of the call, which only the host's kernels and the VM may read.
  static constexpr char kNoTexts[] = "texts are the host's";
  static bool is_text(mlir::Type type);
  static bool has_texts(mlir::Operation* op);
  void leave_out_devices(TaskIndex task);
  bool may_be(TaskIndex task, DeviceIndex device) const;
  std::string why_not(TaskIndex task, DeviceIndex device) const;

  // What rules may place, by its names of several kinds: those that come first hold before others.
  struct Ruled {
    TaskIndex task;
    std::vector<std::pair<Rule::Kind, std::string>> names;
    std::vector<mlir::Value> values;
  };
  // Errors: kInvalidArgument, kInvalidModel (a place that the machine lacks).
  Status read_rules();

  // Of one kind the last rule that matches holds. What the graph itself says holds before any, so
  // all of it has been read.
  void apply_rules(const Ruled& ruled);
  void store_in(const PoolRequirement& pool, const Ruled& ruled);

  // Where nothing is said of a result of the model.
  void place_results();

  const Machine& machine_;
  const std::vector<Rule>& rules_;
  std::vector<llvm::GlobPattern> patterns_;
  std::vector<Place> rule_places_;
  std::vector<Ruled> ruled_;
  std::vector<TaskIndex> model_results_;
  std::map<TaskIndex, Demand> stores_;  // required scopes of placement-only nodes
  GraphProblem graph_;
  llvm::DenseMap<mlir::Value, FlowIndex> flow_of_;
  llvm::DenseMap<mlir::Value, Demand> scopes_;  // that types and annotations require
  llvm::DenseSet<mlir::Operation*> copies_;     // sv.on_device that copy
  DimValues dims_;                              // of the function that is read, from its caller
  double times_ = 1;                            // that what is read runs in a call of the model
  Status status_;
};

}  // namespace scopevm::compiler::placement

// The graph as a Problem: which tasks there are, what each must, and what flows between them.
// Private to compiler/placement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/placement/assignment.h"
#include "compiler/placement/place.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::placement {

// Why a task is on a device.
struct Demand {
  Place place;
  std::string why;    // `sv.on_device "gpu"`
  std::string where;  // "model.mlir:3:8"; empty where the graph says nothing
};

// `sv.on_device "gpu" at model.mlir:3:8`
std::string text_of(const Demand& demand);

struct TaskRecord {
  std::string name;
  mlir::Operation* op = nullptr;  // null for parameters and the like
  std::optional<Demand> demand;
  std::optional<Demand> scope;  // that leaves the device open
};

// A use of a flow's value: operand `operand` of `op`, which is the task's or belongs to it.
struct Use {
  mlir::OpOperand* operand = nullptr;
  size_t reader = 0;  // index into Flow::readers
};

struct GraphProblem {
  Problem problem;
  IndexedVector<TaskIndex, TaskRecord> tasks;
  IndexedVector<FlowIndex, mlir::Value> values;
  IndexedVector<FlowIndex, std::vector<Use>> uses;
  std::vector<std::string> notes;
  std::vector<bool> matched;  // by rule
};

// "model.mlir:3:8", or `node "conv_1"`.
std::string location_text(mlir::Location location);

Result<GraphProblem> read_constraints(mlir::ModuleOp module, const Machine& machine,
                                      const std::vector<Rule>& rules);

// The value that an annotation is about: looks through sv.on_device.
mlir::Value annotated(mlir::Value value);

// A clone of a function for each of its calls, so that each may have places of its own; and, once
// placed, one again of those that are equal.
void clone_per_call(mlir::ModuleOp module);
void merge_equal_functions(mlir::ModuleOp module);

// Of a clone: the name of the function that it was made of.
std::string_view without_number(std::string_view name);

Report apply(mlir::ModuleOp module, const GraphProblem& graph, const Assignment& assignment);

}  // namespace scopevm::compiler::placement

// The steps of place(): clones functions, translates a graph into a Problem (its tasks, their
// placement constraints, and the flows between them), and applies the assignment. Private to
// compiler/placement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/placement/assignment.h"
#include "compiler/placement/place.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::placement {

// A placement constraint of a task, and its source.
struct Constraint {
  RequiredPlace place;
  std::string why;      // `sv.on_device "gpu"`
  std::string where;    // "model.mlir:3:8"; empty if the constraint does not come from the graph
  std::string operand;  // the annotated value, if the annotation constrains its readers
};

// `sv.on_device "gpu" at model.mlir:3:8`
std::string text_of(const Constraint& constraint);

struct TaskRecord {
  std::string name;
  mlir::Operation* op = nullptr;         // null for parameters, results and placement-only nodes
  std::optional<Constraint> constraint;  // requires a device
  std::vector<Constraint> classes;       // require a kind or a target of the device
  std::optional<Constraint> scope;       // requires a memory scope, on any device
};

// A use of a flow's value by one of its readers.
struct Use {
  mlir::OpOperand* operand = nullptr;
  size_t reader = 0;  // index into Flow::readers
};

struct GraphProblem {
  Problem problem;
  IndexedVector<TaskIndex, TaskRecord> tasks;
  IndexedVector<FlowIndex, mlir::Value> values;
  IndexedVector<FlowIndex, std::vector<Use>> uses;
  // The constraints that require the pools of flows and of their readers, if there are any.
  IndexedVector<FlowIndex, std::optional<Constraint>> scopes;
  IndexedVector<FlowIndex, std::vector<std::optional<Constraint>>> reader_scopes;
  // The ops whose results are required in scope "local", with the first constraint of each.
  llvm::MapVector<mlir::Operation*, std::string> locals;
  std::vector<std::string> notes;
  std::vector<bool> matched;  // for each rule: true if the rule matched a task
};

// "model.mlir:3:8", or `node "conv_1"`; empty if the location has neither.
std::string location_text(mlir::Location location);

// The model's name of a value.
std::string name_of(mlir::Value value);

Result<GraphProblem> read_constraints(mlir::ModuleOp module, const Machine& machine,
                                      const std::vector<Rule>& rules);

// The functions that closures of the module call. Their callers are unknown, so their parameters
// and results are on the host.
llvm::SetVector<mlir::func::FuncOp> functions_of_closures(mlir::ModuleOp module);

// Turns the places of the parameters and results of such functions into annotations in their
// bodies, unless the host without a scope satisfies them.
void annotate_functions_of_closures(mlir::ModuleOp module, const Machine& machine);

// Clones each function once per call, so that each call can be placed separately. Recursive calls,
// and calls beyond a limit, share functions.
void clone_per_call(mlir::ModuleOp module);
// Merges functions that are equal after placement, and renumbers the remaining clones.
void merge_equal_functions(mlir::ModuleOp module);

// The name of the function that a clone was made from; other names are returned unchanged.
std::string_view without_number(std::string_view name);

// Writes the assignment into the module: the places of types, device attributes, copies, and a
// clone of each constant for each device that reads it. The report has no `copies` and no
// `seconds`.
Report apply(mlir::ModuleOp module, const GraphProblem& graph, const Assignment& assignment);

}  // namespace scopevm::compiler::placement

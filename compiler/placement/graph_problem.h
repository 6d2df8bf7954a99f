// A Problem with the ops, values and constraints that it was read from. Private to
// compiler/placement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/graph_ops.h"
#include "compiler/placement/place.h"
#include "compiler/placement/problem.h"
#include "llvm/ADT/MapVector.h"

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

// The place that the attribute of a parameter or result gives, else that of its type; null if there
// is none.
mlir::StringAttr written_place(mlir::StringAttr written, graph::TensorType type);

// The place in the type of a tensor; empty if it has none.
std::string place_in_type(mlir::Value value);

}  // namespace scopevm::compiler::placement

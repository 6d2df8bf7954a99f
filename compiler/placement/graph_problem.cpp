// Names and texts of a graph's values, locations and constraints; see the header.
#include "compiler/placement/graph_problem.h"

#include "compiler/graph/diagnostics/op_name.h"

namespace scopevm::compiler::placement {

std::string name_of(mlir::Value value) {
  if (mlir::Operation* op = value.getDefiningOp()) return graph::op_name(op);
  const std::string input = graph::input_name(value);
  return input.empty() ? graph::op_name(value.getParentBlock()->getParentOp()) : input;
}

std::string text_of(const Constraint& constraint) {
  return constraint.why + (constraint.where.empty() ? "" : " at " + constraint.where);
}

std::string location_text(mlir::Location location) {
  if (auto file = location->findInstanceOf<mlir::FileLineColLoc>())
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
           std::to_string(file.getColumn());
  if (auto name = location->findInstanceOf<mlir::NameLoc>())
    return "node \"" + name.getName().str() + "\"";
  return "";
}

mlir::StringAttr written_place(mlir::StringAttr written, graph::TensorType type) {
  if (written || !type.getPlace()) return written;
  return mlir::StringAttr::get(type.getContext(), type.getPlace().str());
}

std::string place_in_type(mlir::Value value) {
  auto place = mlir::cast<graph::TensorType>(value.getType()).getPlace();
  return place ? place.str() : "";
}

}  // namespace scopevm::compiler::placement

// Names and texts of a graph's values, locations and constraints; see the header.
#include "compiler/placement/graph_problem.h"

#include <algorithm>

#include "compiler/graph/diagnostics/op_name.h"

namespace scopevm::compiler::placement {
namespace {

// The assumed trip count of a loop whose trip count is data-dependent.
constexpr double kUnknownTrips = 16;

}  // namespace

double trips_of(graph::LoopOp loop, const std::function<double(DimExpr)>& value_of) {
  llvm::ArrayRef<DimExpr> most = loop.getTripCount().getValue();
  if (most.empty()) return kUnknownTrips;
  // At least 1: at 0 trips every copy in the body would be free, and its placement arbitrary.
  const double trips = std::max(1.0, value_of(most[0]));
  // The trip count of a loop with a condition is only an upper bound.
  return loop.getHasCondition() ? std::min(trips, kUnknownTrips) : trips;
}

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

std::string place_in_type(mlir::Value value) {
  auto place = mlir::cast<graph::TensorType>(value.getType()).getPlace();
  return place ? place.getValue().str() : "";
}

}  // namespace scopevm::compiler::placement

// Queries of placement attributes, annotations and places; see placement_attributes.h.
#include "compiler/graph/rewrite/placement_attributes.h"

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {
namespace {

// The place of the op's first result; null if it has none.
PlaceAttr place_of(mlir::Operation* op) {
  if (op->getNumResults() == 0) return nullptr;
  auto tensor = mlir::dyn_cast<TensorType>(op->getResult(0).getType());
  return tensor ? tensor.getPlace() : nullptr;
}

// Whether an annotation or a copy constrains the place of `value`.
bool is_annotated(mlir::Value value) {
  return llvm::any_of(value.getUsers(), [](mlir::Operation* user) {
    if (auto copy = mlir::dyn_cast<DeviceCopyOp>(user)) return copy.getFrom().has_value();
    auto annotation = mlir::dyn_cast<OnDeviceOp>(user);
    return annotation && (annotation.getConstrainBody() || is_annotated(annotation.getResult()));
  });
}

// Whether an annotation of `value` constrains its readers.
bool constrains_readers(mlir::Value value) {
  for (; auto annotation = value.getDefiningOp<OnDeviceOp>(); value = annotation.getX())
    if (annotation.getConstrainResult()) return true;
  return false;
}

}  // namespace

bool is_constrained(mlir::Operation* op) {
  return has_placement_attributes(op) || llvm::any_of(op->getResults(), is_annotated) ||
         llvm::any_of(op->getOperands(), constrains_readers);
}

bool has_scope(mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  return tensor && tensor.getPlace() && !tensor.getPlace().getScope().empty();
}

bool has_placement_attributes(mlir::Operation* op) {
  return op->hasAttr(kOperandScopes) || op->hasAttr(kResultScopes) || op->hasAttr(kDeviceAttribute);
}

bool have_same_placement(mlir::Operation* a, mlir::Operation* b) {
  return place_of(a) == place_of(b) && !has_placement_attributes(a) && !has_placement_attributes(b);
}

bool can_combine(mlir::Operation* a, mlir::Operation* b) {
  return have_same_placement(a, b) && !is_constrained(a) && !is_constrained(b);
}

}  // namespace scopevm::compiler::graph

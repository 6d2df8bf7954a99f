// Compares the places of two ops; see placement_attributes.h.
#include "compiler/graph/rewrite/placement_attributes.h"

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {
namespace {

// The place of the op's first result; null if it has none.
mlir::StringAttr place_of(mlir::Operation* op) {
  if (op->getNumResults() == 0) return nullptr;
  auto tensor = mlir::dyn_cast<TensorType>(op->getResult(0).getType());
  return tensor ? tensor.getPlace() : nullptr;
}

}  // namespace

bool has_placement_attributes(mlir::Operation* op) {
  return op->hasAttr(kOperandScopes) || op->hasAttr(kResultScopes) || op->hasAttr(kDeviceAttribute);
}

bool have_same_placement(mlir::Operation* a, mlir::Operation* b) {
  return place_of(a) == place_of(b) && !has_placement_attributes(a) && !has_placement_attributes(b);
}

}  // namespace scopevm::compiler::graph

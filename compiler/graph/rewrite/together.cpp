// Compares the places of two ops; see together.h.
#include "compiler/graph/rewrite/together.h"

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

bool asks(mlir::Operation* op) {
  return op->hasAttr(kOperandScopes) || op->hasAttr(kResultScopes) || op->hasAttr(kDeviceAttribute);
}

bool are_together(mlir::Operation* a, mlir::Operation* b) {
  return place_of(a) == place_of(b) && !asks(a) && !asks(b);
}

}  // namespace scopevm::compiler::graph

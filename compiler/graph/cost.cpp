// Default CostOp implementation: derives the cost of an op from its other interfaces and its types.
#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {
namespace {

DimExpr element_count_of(mlir::Value value) {
  auto tensor = mlir::dyn_cast<TensorType>(value.getType());
  return tensor ? tensor.getElementCount() : DimExpr(0);
}

DimExpr bytes_of_value(mlir::Value value) {
  auto tensor = mlir::dyn_cast<TensorType>(value.getType());
  return tensor ? tensor.getBytes() : DimExpr(0);
}

}  // namespace

DimExpr flops_of(mlir::Operation* op) {
  constexpr int64_t kPassesOfRow = 4;  // softmax: maximum, exponential, sum, quotient
  if (auto elementwise = mlir::dyn_cast<ElementwiseOp>(op))
    return element_count_of(op->getResult(0)) * DimExpr(elementwise.getOperationsPerElement());
  if (mlir::isa<ReductionOp>(op)) return element_count_of(op->getOperand(0));
  if (mlir::isa<RowOp>(op)) return element_count_of(op->getResult(0)) * DimExpr(kPassesOfRow);
  if (auto window = mlir::dyn_cast<WindowOp>(op)) {
    DimExpr flops = element_count_of(op->getResult(0));
    for (DimExpr dim : window.getWindowDims()) flops = flops * dim;
    return flops;
  }
  return 0;
}

DimExpr bytes_of(mlir::Operation* op) {
  // The lower bound of the traffic: each operand is read once, and each result is written once.
  DimExpr bytes = 0;
  for (mlir::Value operand : op->getOperands()) bytes = bytes + bytes_of_value(operand);
  for (mlir::Value result : op->getResults()) bytes = bytes + bytes_of_value(result);
  return bytes;
}

}  // namespace scopevm::compiler::graph

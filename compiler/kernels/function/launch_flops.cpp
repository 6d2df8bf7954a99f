// Sums CostOp::getFlops(); see launch_flops.h.
#include "compiler/kernels/function/launch_flops.h"

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::kernels {
namespace {

bool is_float_tensor(mlir::Type type) {
  auto tensor = mlir::dyn_cast<graph::TensorType>(type);
  return tensor && is_float(tensor.getDtype());
}

// Operations on integers, such as those on indices, do not count.
bool has_floats(mlir::Operation* op) {
  return llvm::any_of(op->getOperandTypes(), is_float_tensor) ||
         llvm::any_of(op->getResultTypes(), is_float_tensor);
}

}  // namespace

DimExpr launch_flops(mlir::Operation* op) {
  if (auto group = mlir::dyn_cast<graph::GroupOp>(op)) {
    DimExpr sum = 0;
    for (mlir::Operation& inner : group.getBody().front()) {
      // The sum without an integer contraction would be far below the work of the kernel.
      if (mlir::isa<graph::ContractionOp>(inner) && !has_floats(&inner)) return 0;
      sum = sum + launch_flops(&inner);
    }
    return sum;
  }
  auto cost = mlir::dyn_cast<graph::CostOp>(op);
  return cost && has_floats(op) ? cost.getFlops() : DimExpr(0);
}

}  // namespace scopevm::compiler::kernels

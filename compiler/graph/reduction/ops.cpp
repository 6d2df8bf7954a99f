// Reductions, ops along one axis, and layer normalisation: generated definitions, type rules,
// request checks.
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/symbolic_values.h"

namespace scopevm::compiler::graph {
namespace {

llvm::LogicalResult infer_reduce(TypeRule& rule, mlir::Value x, llvm::ArrayRef<int64_t> axes,
                                 bool keep_dims) {
  TensorType type = tensor_type(x);
  llvm::SmallVector<DimExpr> shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (failed(check_axis(rule, type, axes[i]))) return mlir::failure();
    if (i > 0 && axes[i] <= axes[i - 1])
      return rule.fail("axes must be ascending, but axis " + llvm::Twine(axes[i]) +
                       " follows axis " + llvm::Twine(axes[i - 1]));
  }
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!llvm::is_contained(axes, axis))
      shape.push_back(type.getDim(axis));
    else if (keep_dims)
      shape.push_back(1);
  }
  return rule.add_result(type.getDtype(), shape);
}

llvm::LogicalResult infer_arg_reduce(TypeRule& rule, mlir::Value x, int64_t axis, bool keep_dims) {
  TensorType type = tensor_type(x);
  if (failed(check_axis(rule, type, axis))) return mlir::failure();
  llvm::SmallVector<DimExpr> shape(type.getShape());
  if (keep_dims)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  return rule.add_result(DType::kI64, shape);
}

// The result has the type of x.
llvm::LogicalResult infer_along_axis(TypeRule& rule, mlir::Value x, int64_t axis) {
  if (failed(check_axis(rule, tensor_type(x), axis))) return mlir::failure();
  return infer_same(rule, x);
}

llvm::LogicalResult infer_layer_norm(TypeRule& rule, LayerNormOp::Adaptor op) {
  if (failed(check_same_dtype(rule, op.getOperands()))) return mlir::failure();
  return infer_along_axis(rule, op.getX(), static_cast<int64_t>(op.getAxis()));
}

}  // namespace

void LayerNormOp::addRequestChecks(RequestChecks& checks) {
  checks.require_broadcast({getX(), getScale()});
  if (getBias()) checks.require_broadcast({getX(), getBias()});
}

}  // namespace scopevm::compiler::graph

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/reduction/ops.cpp.inc"

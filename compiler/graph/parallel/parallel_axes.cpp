#include "compiler/graph/parallel/parallel_axes.h"

#include <algorithm>

#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::graph {

std::optional<int64_t> broadcast_axis(llvm::ArrayRef<DimExpr> operand, int64_t axis, int64_t rank,
                                      DimExpr dim) {
  const int64_t own = axis - rank + static_cast<int64_t>(operand.size());
  if (own < 0) return ParallelAxis::kWhole;
  if (operand[own] == dim) return own;
  if (operand[own].is_constant(1)) return ParallelAxis::kWhole;
  return std::nullopt;
}

ParallelAxes broadcast_axes(mlir::Operation* op, int64_t end) {
  const TensorType result = tensor_type(op->getResult(0));
  ParallelAxes axes;
  for (int64_t axis = 0; axis < std::min(end, result.getRank()); ++axis) {
    ParallelAxis parallel{{}, {axis}};
    for (mlir::Value operand : op->getOperands())
      if (const auto own = broadcast_axis(tensor_type(operand).getShape(), axis, result.getRank(),
                                          result.getDim(axis)))
        parallel.operands.push_back(*own);
    if (parallel.operands.size() == op->getNumOperands()) axes.push_back(std::move(parallel));
  }
  return axes;
}

ParallelAxes equal_axes(mlir::Operation* op, llvm::ArrayRef<int64_t> skipped) {
  const TensorType first = tensor_type(op->getResult(0));
  const auto is_equal = [&](TensorType type, int64_t axis) {
    return type.getRank() == first.getRank() && type.getDim(axis) == first.getDim(axis);
  };
  ParallelAxes axes;
  for (int64_t axis = 0; axis < first.getRank(); ++axis) {
    if (llvm::is_contained(skipped, axis)) continue;
    ParallelAxis parallel;
    bool are_equal = true;
    for (mlir::Value operand : op->getOperands()) {
      const TensorType type = tensor_type(operand);
      parallel.operands.push_back(type.getRank() == 0 ? ParallelAxis::kWhole : axis);
      are_equal = are_equal && (type.getRank() == 0 || is_equal(type, axis));
    }
    for (mlir::Value result : op->getResults()) {
      parallel.results.push_back(axis);
      are_equal = are_equal && is_equal(tensor_type(result), axis);
    }
    if (are_equal) axes.push_back(std::move(parallel));
  }
  return axes;
}

ParallelAxes leading_axes(mlir::Operation* op, int64_t count) {
  ParallelAxes axes;
  for (int64_t axis = 0; axis < count; ++axis) {
    ParallelAxis parallel;
    parallel.operands.assign(op->getNumOperands(), ParallelAxis::kWhole);
    parallel.operands.front() = axis;
    parallel.results.assign(op->getNumResults(), axis);
    axes.push_back(std::move(parallel));
  }
  return axes;
}

ParallelAxes reduced_axes(mlir::Operation* op, llvm::ArrayRef<int64_t> axes, bool keeps_dims) {
  ParallelAxes kept;
  int64_t result = 0;
  for (int64_t axis = 0; axis < tensor_type(op->getOperand(0)).getRank(); ++axis) {
    const bool is_reduced = llvm::is_contained(axes, axis);
    if (!is_reduced) kept.push_back({{axis}, {result}});
    if (!is_reduced || keeps_dims) ++result;
  }
  return kept;
}

}  // namespace scopevm::compiler::graph

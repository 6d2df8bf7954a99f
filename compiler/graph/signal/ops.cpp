// Resampling: generated definitions, type rules, request checks.
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/signal/ops.cpp.inc"

namespace scopevm::compiler::graph {

llvm::LogicalResult ResizeOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  const auto rank = static_cast<size_t>(x.getRank());
  if (failed(rule.check_count(op.getDims().getValue().size(), "dim", rank, " for " + text_of(x))) ||
      (!op.getScales().empty() &&
       failed(rule.check_count(op.getScales().size(), "scale", rank, " for " + text_of(x)))))
    return mlir::failure();
  if (op.getMode() != ResizeMode::kNearest && !is_float(x.getDtype()))
    return rule.fail("x is " + text_of(x) + ", but mode \"" + stringifyResizeMode(op.getMode()) +
                     "\" requires a floating-point element type");
  return rule.add_result(x.getDtype(), op.getDims().getValue());
}

// An axis that keeps its dim is not resampled if its scale is 1.
ParallelAxes ResizeOp::getParallelAxes() {
  llvm::SmallVector<int64_t> scaled;
  for (const auto [axis, scale] : llvm::enumerate(getScales()))
    if (scale != 1.0f) scaled.push_back(static_cast<int64_t>(axis));
  return equal_axes(*this, scaled);
}

bool ResizeOp::selectsElements() { return getMode() == ResizeMode::kNearest; }

void ResizeOp::addRequestChecks(RequestChecks& checks) {
  for (int64_t axis = 0; axis < tensor_type(getX()).getRank(); ++axis) {
    CheckedDim dim = dim_of(getX(), axis);
    if (tensor_type(getResult()).getDim(axis) != dim.dim)
      checks.require_at_least(dim, {1, nullptr, ""},
                              dim.what + " is {0}: an empty axis cannot be resized");
  }
}

}  // namespace scopevm::compiler::graph

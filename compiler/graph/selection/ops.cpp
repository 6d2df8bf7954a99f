// Ops that sort and select elements, rows or boxes: generated definitions, type rules, request
// checks.
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/selection/ops.cpp.inc"

namespace scopevm::compiler::graph {

namespace {

llvm::LogicalResult check_rank_2(TypeRule& rule, TensorType x) {
  if (x.getRank() == 2) return mlir::success();
  return rule.fail("x must have rank 2, but is " + text_of(x));
}

}  // namespace

llvm::LogicalResult TopKOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  if (failed(check_axis(rule, x, static_cast<int64_t>(op.getAxis()))) ||
      failed(rule.check_count(op.getK().getValue().size(), "value", 1, " for k")))
    return mlir::failure();
  llvm::SmallVector<DimExpr> shape(x.getShape());
  shape[op.getAxis()] = op.getK().getValue().front();
  if (failed(rule.add_result(x.getDtype(), shape))) return mlir::failure();
  return rule.add_result(DType::kI64, shape);
}

void TopKOp::addRequestChecks(RequestChecks& checks) {
  CheckedDim dim = dim_of(getX(), static_cast<int64_t>(getAxis()));
  checks.require_at_least(dim, {getK().getValue().front(), getX(), ""},
                          "k is {1}, expected at most {0}, which is " + dim.what);
}

llvm::LogicalResult SortRowsOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX());
  if (failed(check_rank_2(rule, x))) return mlir::failure();
  return rule.add_result(DType::kI64, {x.getDim(0)});
}

llvm::LogicalResult UniqueRowsOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), order = tensor_type(op.getOrder());
  if (failed(check_rank_2(rule, x))) return mlir::failure();
  if (order.getDtype() != DType::kI64 || order.getRank() != 1 || order.getDim(0) != x.getDim(0))
    return rule.fail("order must be i64 with one entry for each row of x " + text_of(x) +
                     ", but is " + text_of(order));
  // The number of distinct rows is data-dependent: three results have space for all rows, and the
  // last one is the count.
  for (int i = 0; i < 3; ++i) (void)rule.add_result(DType::kI64, {x.getDim(0)});
  return rule.add_result(DType::kI64, {DimExpr(1)});
}

llvm::LogicalResult SuppressBoxesOp::infer(TypeRule& rule, Adaptor op) {
  TensorType boxes = tensor_type(op.getBoxes()), scores = tensor_type(op.getScores()),
             order = tensor_type(op.getOrder());
  if (boxes.getDtype() != DType::kF32 || boxes.getRank() != 3 || scores.getDtype() != DType::kF32 ||
      scores.getRank() != 3)
    return rule.fail("boxes and scores must be f32 of rank 3, but are " + text_of(boxes) + " and " +
                     text_of(scores));
  bool fits = boxes.getDim(2).is_constant(4) && boxes.getDim(0) == scores.getDim(0) &&
              boxes.getDim(1) == scores.getDim(2) && order.getDtype() == DType::kI64 &&
              order.getShape() == scores.getShape();
  if (!fits)
    return rule.fail("expected boxes [b, n, 4], scores [b, c, n] and order i64[b, c, n], given " +
                     text_of(boxes) + ", " + text_of(scores) + " and " + text_of(order));
  for (mlir::Value threshold : {op.getIouThreshold(), op.getScoreThreshold()})
    if (tensor_type(threshold).getDtype() != DType::kF32 ||
        !tensor_type(threshold).getElementCount().is_constant(1))
      return rule.fail("a threshold must be f32 with 1 element, but is " +
                       text_of(threshold.getType()));
  if (failed(rule.check_count(op.getLimit().getValue().size(), "limit", 1))) return mlir::failure();
  // The first result has space for all boxes that can be selected. The second one is the number of
  // selected boxes for each image and class.
  DimExpr most = min(op.getLimit().getValue().front(), scores.getDim(2));
  if (failed(rule.add_result(DType::kI64, {scores.getDim(0), scores.getDim(1), most})))
    return mlir::failure();
  return rule.add_result(DType::kI64, {scores.getDim(0), scores.getDim(1)});
}

}  // namespace scopevm::compiler::graph

// Type rules of the ops that lead to sizes that depend on data.
#include "compiler/graph/infer/infer.h"

namespace scopevm::compiler::graph {
namespace {

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

void add(TypeRule& rule, DType dtype, llvm::ArrayRef<DimExpr> shape) {
  rule.types.push_back(TensorType::get(rule.context, dtype, shape));
}

DimExpr block_count(TensorType x, int64_t block) { return ceildiv(x.getElementCount(), block); }

}  // namespace

llvm::LogicalResult inferCountNonzero(TypeRule& rule, CountNonzeroOp::Adaptor op) {
  auto block = static_cast<int64_t>(op.getBlock());
  if (block < 1 || block > (1 << 20)) return rule.fail("block is not in [1, 2^20]");
  add(rule, DType::kI64, {block_count(type_of(op.getX()), block)});
  add(rule, DType::kI64, {DimExpr(1)});
  return mlir::success();
}

llvm::LogicalResult inferNonzero(TypeRule& rule, NonzeroOp::Adaptor op) {
  TensorType x = type_of(op.getX()), starts = type_of(op.getStarts());
  auto block = static_cast<int64_t>(op.getBlock());
  if (block < 1 || op.getCount().getValue().size() != 1)
    return rule.fail("block or count is not valid");
  if (starts.getDtype() != DType::kI64 || starts.getRank() != 1 ||
      starts.getDim(0) != block_count(x, block))
    return rule.fail("starts " + text_of(starts) + " are not of blocks of " + text_of(x));
  add(rule, DType::kI64, {DimExpr(x.getRank()), op.getCount().getValue().front()});
  return mlir::success();
}

llvm::LogicalResult inferSortRows(TypeRule& rule, SortRowsOp::Adaptor op) {
  TensorType x = type_of(op.getX());
  if (x.getRank() != 2) return rule.fail(text_of(x) + " is no matrix");
  add(rule, DType::kI64, {x.getDim(0)});
  return mlir::success();
}

llvm::LogicalResult inferUniqueRows(TypeRule& rule, UniqueRowsOp::Adaptor op) {
  TensorType x = type_of(op.getX()), order = type_of(op.getOrder());
  if (x.getRank() != 2) return rule.fail(text_of(x) + " is no matrix");
  if (order.getDtype() != DType::kI64 || order.getRank() != 1 || order.getDim(0) != x.getDim(0))
    return rule.fail("order " + text_of(order) + " is none of the rows of " + text_of(x));
  for (int i = 0; i < 3; ++i) add(rule, DType::kI64, {x.getDim(0)});
  add(rule, DType::kI64, {DimExpr(1)});
  return mlir::success();
}

llvm::LogicalResult inferSuppressBoxes(TypeRule& rule, SuppressBoxesOp::Adaptor op) {
  TensorType boxes = type_of(op.getBoxes()), scores = type_of(op.getScores()),
             order = type_of(op.getOrder());
  if (boxes.getDtype() != DType::kF32 || boxes.getRank() != 3 || scores.getDtype() != DType::kF32 ||
      scores.getRank() != 3)
    return rule.fail("boxes " + text_of(boxes) + " and scores " + text_of(scores) +
                     " must be f32 of rank 3");
  bool fits = boxes.getDim(2).is_constant(4) && boxes.getDim(0) == scores.getDim(0) &&
              boxes.getDim(1) == scores.getDim(2) && order.getDtype() == DType::kI64 &&
              order.getShape() == scores.getShape();
  if (!fits)
    return rule.fail("boxes " + text_of(boxes) + ", scores " + text_of(scores) + " and order " +
                     text_of(order) + " do not fit");
  for (mlir::Value threshold : {op.getIouThreshold(), op.getScoreThreshold()})
    if (type_of(threshold).getDtype() != DType::kF32 ||
        !type_of(threshold).getElementCount().is_constant(1))
      return rule.fail("threshold " + text_of(threshold.getType()) + " is not one f32");
  if (op.getLimit().getValue().size() != 1) return rule.fail("limit is not one dim");
  DimExpr most = min(op.getLimit().getValue().front(), scores.getDim(2));
  add(rule, DType::kI64, {scores.getDim(0), scores.getDim(1), most});
  add(rule, DType::kI64, {scores.getDim(0), scores.getDim(1)});
  return mlir::success();
}

}  // namespace scopevm::compiler::graph

// Matches attention that one kernel can compute: two products of f32 matrices with the same batch
// dims, and a softmax between them.
#include "compiler/fusion/contraction_match.h"

namespace scopevm::compiler::fusion {
namespace {

using graph::TensorType;
using graph::type_of;

mlir::Operation* only_user(mlir::Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

// True for a product of f32 matrices with batch dims. Constant operands are excluded, because the
// kernel of a single product can pack them at compile time.
bool is_batched_product(graph::MatMulOp op) {
  if (!op) return false;
  for (mlir::Value operand : op->getOperands())
    if (type_of(operand).getDtype() != DType::kF32 || type_of(operand).getRank() < 3 ||
        operand.getDefiningOp<graph::ConstantOp>())
      return false;
  OutputAxes axes = output_axes(op);
  int64_t rank = type_of(op.getResult()).getRank();
  // Excludes products whose batch dims output_axes() treats as rows, because all batch dims of
  // operand b are 1.
  return axes.rows == rank - 2 && axes.columns == rank - 1;
}

bool have_one_batch(TensorType a, TensorType b) {
  return a.getShape().drop_back(2) == b.getShape().drop_back(2);
}

}  // namespace

AttentionTail attention_tail(mlir::Operation* contraction, mlir::Value score) {
  auto first = mlir::dyn_cast<graph::MatMulOp>(contraction);
  auto softmax = mlir::dyn_cast_or_null<graph::SoftmaxOp>(only_user(score));
  if (!is_batched_product(first) || !softmax ||
      static_cast<int64_t>(softmax.getAxis()) != type_of(score).getRank() - 1)
    return {};
  auto second = mlir::dyn_cast_or_null<graph::MatMulOp>(only_user(softmax.getResult()));
  // The rows of the scores must be the rows of the second product.
  if (!is_batched_product(second) || second.getA() != softmax.getResult() ||
      second.getTransposeA() || softmax->getBlock() != contraction->getBlock() ||
      second->getBlock() != contraction->getBlock() || type_of(score).getDtype() != DType::kF32 ||
      !have_one_batch(type_of(score), type_of(second.getResult())))
    return {};
  return {softmax, second};
}

std::optional<FusedAttention> match_attention(mlir::Operation* op) {
  auto group = mlir::dyn_cast<graph::GroupOp>(op);
  if (!group) return std::nullopt;
  FusedAttention fused;
  fused.scores.op = fused.product.op = op;
  mlir::Block& body = group.getBody().front();
  mlir::Operation* inner = &body.front();
  while (take_op(fused.scores, inner)) inner = inner->getNextNode();
  auto softmax = mlir::dyn_cast<graph::SoftmaxOp>(inner);
  if (!softmax || !fused.scores.contraction) return std::nullopt;
  fused.score = softmax.getX();
  AttentionTail tail = attention_tail(fused.scores.contraction, fused.score);
  auto product = mlir::dyn_cast_or_null<graph::MatMulOp>(tail.product);
  auto yield = mlir::cast<graph::YieldOp>(body.getTerminator());
  // The kernel reads its matrices from operands of the group, and has one result.
  auto is_operand = [](mlir::Value value) { return mlir::isa<mlir::BlockArgument>(value); };
  if (!product || !llvm::all_of(fused.scores.contraction->getOperands(), is_operand) ||
      !is_operand(product.getB()) || !fused.score.getDefiningOp() ||
      is_splat_constant(fused.score.getDefiningOp()) || softmax->getNextNode() != product ||
      product->getNextNode() != yield || yield.getValues().size() != 1 ||
      yield.getValues().front() != product.getResult())
    return std::nullopt;
  fused.product.contraction = product;
  fused.product.results = {product.getResult()};
  return fused;
}

}  // namespace scopevm::compiler::fusion

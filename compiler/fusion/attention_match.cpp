// Matches attention that one kernel can compute: two products of f32 matrices with the same batch
// dims, and a softmax between them.
#include "compiler/fusion/contraction_match.h"

namespace scopevm::compiler::fusion {
namespace {

using graph::TensorType;

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

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
  for (mlir::Operation& inner : group.getBody().front().without_terminator()) {
    if (auto softmax = mlir::dyn_cast<graph::SoftmaxOp>(inner)) {
      fused.score = softmax.getX();
    } else if (!mlir::isa<graph::MatMulOp>(inner)) {
      // The other ops of the group are between the first product and the softmax.
      fused.scores.epilogue.push_back(&inner);
    } else if (fused.scores.contraction) {
      fused.product.contraction = &inner;
      fused.product.results = {inner.getResult(0)};
    } else {
      fused.scores.contraction = &inner;
    }
  }
  if (!fused.score || !fused.product.contraction) return std::nullopt;
  return fused;
}

}  // namespace scopevm::compiler::fusion

// Matches attention that one kernel can compute: two products of f32 matrices with the same batch
// dims, and a softmax between them.
#include "compiler/graph/rewrite/rewrites.h"
#include "compiler/graph/values/elements.h"
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

using fusion::only_user;
using graph::TensorType;
using graph::type_of;

// True for a product of f32 matrices with batch dims. Constant operands are excluded, because the
// kernel of a single product can pack them at compile time.
bool is_batched_product(graph::MatMulOp op) {
  if (!op) return false;
  for (mlir::Value operand : op->getOperands())
    if (type_of(operand).getDtype() != DType::kF32 || type_of(operand).getRank() < 3 ||
        operand.getDefiningOp<graph::ConstantOp>())
      return false;
  const graph::OutputAxes axes = op.getOutputAxes();
  const int64_t rank = type_of(op.getResult()).getRank();
  // Excludes products whose batch dims getOutputAxes() treats as rows, because all batch dims of
  // operand b are 1.
  return axes.rows == rank - 2 && axes.columns == rank - 1;
}

// The ops between the scores and the second product: the softmax that is their only user, and those
// of a guard. Empty if there is no softmax.
llvm::SmallVector<mlir::Operation*> softmax_ops(mlir::Value score) {
  auto softmax = mlir::dyn_cast_or_null<graph::SoftmaxOp>(only_user(score));
  if (!softmax) return {};
  for (mlir::Operation* user : softmax->getUsers())
    if (auto select = mlir::dyn_cast<graph::SelectOp>(user))
      if (auto guarded = graph::match_guarded_softmax(select.getResult()))
        return {guarded->softmax, guarded->test, guarded->select};
  return {softmax};
}

bool have_one_batch(TensorType a, TensorType b) {
  return a.getShape().drop_back(2) == b.getShape().drop_back(2);
}

}  // namespace

// The softmax with its guard, and the product that uses it.
llvm::SmallVector<mlir::Operation*> fusible_tail(graph::MatMulOp first, mlir::Value score,
                                                 graph::WithEpilogue) {
  llvm::SmallVector<mlir::Operation*> tail = softmax_ops(score);
  if (!is_batched_product(first) || tail.empty() ||
      static_cast<int64_t>(mlir::cast<graph::SoftmaxOp>(tail.front()).getAxis()) !=
          type_of(score).getRank() - 1)
    return {};
  const mlir::Value weights = tail.back()->getResult(0);
  auto second = mlir::dyn_cast_or_null<graph::MatMulOp>(only_user(weights));
  // The rows of the scores must be the rows of the second product.
  if (!is_batched_product(second) || second.getA() != weights || second.getTransposeA() ||
      type_of(score).getDtype() != DType::kF32 ||
      !have_one_batch(type_of(score), type_of(second.getResult())))
    return {};
  tail.push_back(second);
  return tail;
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
  auto scores = mlir::dyn_cast_or_null<graph::MatMulOp>(fused.scores.contraction);
  if (!softmax || !scores) return std::nullopt;
  fused.score = softmax.getX();
  const llvm::SmallVector<mlir::Operation*> tail = fusible_tail(scores, fused.score, {});
  auto product = tail.empty() ? nullptr : mlir::cast<graph::MatMulOp>(tail.back());
  mlir::Operation* yield = body.getTerminator();
  // Only the constant of a guard can be between the ops of the tail.
  size_t matched = 0;
  for (inner = softmax; inner != yield; inner = inner->getNextNode())
    if (matched < tail.size() && inner == tail[matched])
      ++matched;
    else if (!graph::splat_bits(inner))
      return std::nullopt;
  // The kernel reads its matrices from operands of the group, and has one result.
  auto is_operand = [&](mlir::Value value) {
    return mlir::isa<mlir::BlockArgument>(value) || fused.scores.stored(value) != value;
  };
  if (!product || !llvm::all_of(scores->getOperands(), is_operand) || !is_operand(product.getB()) ||
      !fused.score.getDefiningOp() || graph::splat_bits(fused.score.getDefiningOp()) ||
      matched != tail.size() || product->getNextNode() != yield || yield->getNumOperands() != 1 ||
      yield->getOperand(0) != product.getResult())
    return std::nullopt;
  fused.is_guarded = tail.size() > 2;
  fused.product.contraction = product;
  fused.product.results = {product.getResult()};
  return fused;
}

}  // namespace scopevm::compiler::kernels

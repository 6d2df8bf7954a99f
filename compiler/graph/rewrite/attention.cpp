// Rewrites of attention that exporters write as separate ops, so that a kernel computes it
// (compiler/kernels/contraction/attention):
//
//   q (k * c)^T                              (q * c) k^T
//   softmax(q repeat(k)^T) repeat(v)         softmax(grouped(q) k^T) v
//
// repeat(x) repeats each head of keys or values for a group of heads of queries. grouped(q) has the
// rows of the heads of a group as rows of one matrix, so that no keys and values are repeated.
#include <cmath>

#include "compiler/graph/rewrite/rewrites.h"
#include "compiler/graph/values/elements.h"

namespace scopevm::compiler::graph {
namespace {

// The axes of queries, keys, values and scores.
enum Axis : int64_t { kBatch, kHead, kRow, kColumn };
constexpr int64_t kRank = 4;

// x: [batch, heads, keys, size], of which each head is repeated `group` times.
struct Repeated {
  mlir::Value x;
  DimExpr heads;
  int64_t group = 1;
};

// Matches reshape(expand(reshape(x))), with the dims [batch, heads, 1, keys, size] and [batch,
// heads, group, keys, size] between them.
std::optional<Repeated> match_repeated(mlir::Value value, mlir::Operation* user) {
  auto merged = value.getDefiningOp<ReshapeOp>();
  auto expand = merged ? merged.getX().getDefiningOp<ExpandOp>() : nullptr;
  auto split = expand ? expand.getX().getDefiningOp<ReshapeOp>() : nullptr;
  if (!split || !can_combine(user, merged) || !can_combine(user, expand) ||
      !can_combine(user, split))
    return std::nullopt;
  llvm::ArrayRef<DimExpr> x = type_of(split.getX()).getShape(), wide = type_of(expand).getShape(),
                          result = type_of(value).getShape();
  if (x.size() != kRank || wide.size() != kRank + 1 || result.size() != kRank) return std::nullopt;
  const std::optional<int64_t> group = wide[2].as_constant();
  llvm::SmallVector<DimExpr> narrow(wide);
  narrow[2] = 1;
  const bool matches =
      group > 1 && type_of(split.getResult()).getShape() == llvm::ArrayRef(narrow) &&
      x[kBatch] == wide[0] && x[kHead] == wide[1] && x[kRow] == wide[3] && x[kColumn] == wide[4] &&
      result[kBatch] == wide[0] && result[kHead] == wide[1] * wide[2] && result[kRow] == wide[3] &&
      result[kColumn] == wide[4];
  if (!matches) return std::nullopt;
  return Repeated{split.getX(), x[kHead], *group};
}

// The ops from the scores to the probabilities, with a softmax among them.
struct Chain {
  MatMulOp scores;
  llvm::SmallVector<mlir::Operation*> ops;  // after `scores`, in program order
};

// Whether each user of the value is one of `users`.
bool has_only_users(mlir::Value value, llvm::ArrayRef<mlir::Operation*> users) {
  return llvm::all_of(value.getUsers(),
                      [&](mlir::Operation* user) { return llvm::is_contained(users, user); });
}

// Follows the probabilities `value` of the product `user` back to the product of the scores: from
// each op to its first operand of the same shape that no other op uses. Empty if this does not lead
// to a product, or over an op of another kind.
std::optional<Chain> chain_of(mlir::Value value, mlir::Operation* user) {
  constexpr size_t kMostOps = 24;
  Chain chain;
  bool has_softmax = false;
  llvm::SmallVector<mlir::Operation*> after = {user};
  while (chain.ops.size() < kMostOps) {
    mlir::Operation* op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getBlock() != user->getBlock() ||
        !can_combine(user, op) || !has_only_users(value, after))
      return std::nullopt;
    if (auto product = mlir::dyn_cast<MatMulOp>(op)) {
      if (!has_softmax) return std::nullopt;
      chain.scores = product;
      std::reverse(chain.ops.begin(), chain.ops.end());
      return chain;
    }
    chain.ops.push_back(op);
    if (auto softmax = mlir::dyn_cast<SoftmaxOp>(op)) {
      if (static_cast<int64_t>(softmax.getAxis()) != kColumn) return std::nullopt;
      has_softmax = true;
      value = softmax.getX();
      after = {op};
      continue;
    }
    if (std::optional<GuardedSoftmax> guarded = match_guarded_softmax(value)) {
      chain.ops.push_back(guarded->test);
      value = guarded->softmax.getResult();
      after = {op, guarded->test};
      continue;
    }
    if (!mlir::isa<ElementwiseOp>(op)) return std::nullopt;
    mlir::Value main;
    for (mlir::Value operand : op->getOperands())
      if (!main && type_of(operand).getShape() == type_of(value).getShape() &&
          mlir::isa_and_nonnull<ElementwiseOp, SoftmaxOp, MatMulOp>(operand.getDefiningOp()) &&
          has_only_users(operand, {op}))
        main = operand;
    if (!main) return std::nullopt;
    value = main;
    after = {op};
  }
  return std::nullopt;
}

class Grouping {
 public:
  Grouping(mlir::OpBuilder& builder, mlir::Location location, TensorType scores, DimExpr kv_heads,
           int64_t group)
      : builder_(builder),
        location_(location),
        batch_(scores.getDim(kBatch)),
        heads_(scores.getDim(kHead)),
        rows_(scores.getDim(kRow)),
        kv_heads_(kv_heads),
        group_(group) {}

  // Whether operand() can group a value of this type.
  bool accepts(TensorType type) const {
    const int64_t missing = kRank - type.getRank();
    if (missing < 0) return false;
    const auto is_one_or = [&](Axis axis, DimExpr dim) {
      return axis < missing || type.getDim(axis - missing).is_constant(1) ||
             type.getDim(axis - missing) == dim;
    };
    return is_one_or(kBatch, batch_) && is_one_or(kHead, heads_) && is_one_or(kRow, rows_);
  }

  // [batch, heads, rows, columns] as [batch, kv_heads, group * rows, columns]. The rows of the
  // heads of a group are contiguous.
  mlir::Value whole(mlir::Value x) {
    TensorType type = type_of(x);
    return reshape(x, {type.getDim(kBatch), kv_heads_, rows_ * group_, type.getDim(kColumn)});
  }
  // The inverse.
  mlir::Value ungrouped(mlir::Value x) {
    TensorType type = type_of(x);
    return reshape(x, {type.getDim(kBatch), heads_, rows_, type.getDim(kColumn)});
  }

  // A value that broadcasts to the scores as one that broadcasts to the grouped scores.
  mlir::Value operand(mlir::Value x) {
    llvm::SmallVector<DimExpr> dims(type_of(x).getShape());
    if (dims.size() < 2 || (dims.size() == 2 && dims[0].is_constant(1))) return x;
    dims.insert(dims.begin(), kRank - dims.size(), DimExpr(1));
    const bool has_heads = !dims[kHead].is_constant(1), has_rows = !dims[kRow].is_constant(1);
    if (!has_heads && !has_rows) return x;
    const DimExpr heads = has_heads ? kv_heads_ : DimExpr(1);
    x = reshape(x, {dims[kBatch], heads, has_heads ? DimExpr(group_) : DimExpr(1), dims[kRow],
                    dims[kColumn]});
    x = expand(x, {dims[kBatch], heads, group_, rows_, dims[kColumn]});
    return reshape(x, {dims[kBatch], heads, rows_ * group_, dims[kColumn]});
  }

 private:
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<DimExpr> dims) {
    return builder_.create<ReshapeOp>(location_, type_of(x).withShape(dims), x,
                                      DimsAttr::get(builder_.getContext(), dims));
  }
  mlir::Value expand(mlir::Value x, llvm::ArrayRef<DimExpr> dims) {
    return builder_.create<ExpandOp>(location_, type_of(x).withShape(dims), x,
                                     DimsAttr::get(builder_.getContext(), dims));
  }

  mlir::OpBuilder& builder_;
  mlir::Location location_;
  DimExpr batch_, heads_, rows_, kv_heads_;
  int64_t group_;
};

}  // namespace

std::optional<GuardedSoftmax> match_guarded_softmax(mlir::Value value) {
  auto select = value.getDefiningOp<SelectOp>();
  auto test = select ? select->getOperand(0).getDefiningOp<IsNanOp>() : nullptr;
  auto softmax = test ? test->getOperand(0).getDefiningOp<SoftmaxOp>() : nullptr;
  if (!softmax || select->getOperand(2) != softmax.getResult() ||
      select.getResult().getType() != softmax.getResult().getType() ||
      splat_of(select->getOperand(1)) != 0 || !has_only_users(test->getResult(0), {select}) ||
      !has_only_users(softmax.getResult(), {test, select}))
    return std::nullopt;
  return GuardedSoftmax{softmax, test, select};
}

mlir::Value scale_left_operand(MatMulOp op, mlir::OpBuilder& builder) {
  auto scaled = op.getB().getDefiningOp<MulOp>();
  if (!scaled || !can_combine(op, scaled) || !scaled->hasOneUse() ||
      op.getA().getDefiningOp<ConstantOp>())
    return {};
  const TensorType type = type_of(scaled.getResult());
  // Matrices without batch dims are weights, perhaps dequantised ones.
  if (type.getRank() < 3) return {};
  for (int i : {0, 1}) {
    mlir::Value x = scaled->getOperand(i), factor = scaled->getOperand(1 - i);
    const std::optional<double> number = splat_of(factor);
    // A larger factor of the left operand could overflow where the right one has small elements.
    constexpr double kMost = 65536;
    if (!number || !(std::fabs(*number) >= 1 / kMost && std::fabs(*number) <= kMost) ||
        x.getType() != type || x.getDefiningOp<ConstantOp>() ||
        type_of(factor).getRank() > type_of(op.getA()).getRank() ||
        !type_of(factor).getElementCount().is_constant(1))
      continue;
    mlir::Value a = builder.create<MulOp>(scaled.getLoc(), op.getA().getType(), op.getA(), factor);
    return builder.create<MatMulOp>(op.getLoc(), op.getResult().getType(), a, x, op.getTransposeA(),
                                    op.getTransposeB());
  }
  return {};
}

mlir::Value group_heads(MatMulOp op, mlir::OpBuilder& builder) {
  if (op.getTransposeA() || op.getTransposeB() || type_of(op.getResult()).getRank() != kRank)
    return {};
  const std::optional<Repeated> values = match_repeated(op.getB(), op);
  const std::optional<Chain> chain = values ? chain_of(op.getA(), op) : std::nullopt;
  if (!chain || chain->ops.empty()) return {};
  MatMulOp scores = chain->scores;
  const std::optional<Repeated> keys = match_repeated(scores.getB(), op);
  if (!keys || keys->group != values->group || keys->heads != values->heads ||
      scores.getTransposeA() || !scores.getTransposeB())
    return {};
  const TensorType type = type_of(scores.getResult()), queries = type_of(scores.getA());
  if (queries.getRank() != kRank || queries.getDim(kBatch) != type.getDim(kBatch) ||
      queries.getDim(kHead) != type.getDim(kHead))
    return {};
  Grouping grouping(builder, op.getLoc(), type, keys->heads, keys->group);
  llvm::DenseMap<mlir::Value, mlir::Value> grouped = {{scores.getResult(), mlir::Value()}};
  for (mlir::Operation* each : chain->ops) {
    for (mlir::Value operand : each->getOperands())
      if (!grouped.contains(operand) && !grouping.accepts(type_of(operand))) return {};
    grouped[each->getResult(0)] = mlir::Value();
  }
  // Each op again, with the grouped operands and the shape of the grouped scores.
  const llvm::SmallVector<DimExpr> shape = {type.getDim(kBatch), keys->heads,
                                            type.getDim(kRow) * keys->group, type.getDim(kColumn)};
  grouped[scores.getResult()] = builder.create<MatMulOp>(
      scores.getLoc(), type.withShape(shape), grouping.whole(scores.getA()), keys->x,
      /*transpose_a=*/false, /*transpose_b=*/true);
  for (mlir::Operation* each : chain->ops) {
    mlir::IRMapping mapping;
    for (mlir::Value operand : each->getOperands()) {
      const auto known = grouped.find(operand);
      mapping.map(operand, known == grouped.end() ? grouping.operand(operand) : known->second);
    }
    mlir::Value result = builder.clone(*each, mapping)->getResult(0);
    result.setType(type_of(result).withShape(shape));
    grouped[each->getResult(0)] = result;
  }
  TensorType product = type_of(op.getResult());
  llvm::SmallVector<DimExpr> dims(product.getShape());
  dims[kHead] = values->heads;
  dims[kRow] = dims[kRow] * values->group;
  return grouping.ungrouped(builder.create<MatMulOp>(op.getLoc(), product.withShape(dims),
                                                     grouped[op.getA()], values->x,
                                                     /*transpose_a=*/false, /*transpose_b=*/false));
}

}  // namespace scopevm::compiler::graph

// Matches separable convolutions that one kernel can compute: a convolution of blocked images with
// one group per channel, its epilogue, and a convolution of single pixels.
#include "compiler/fusion/contraction_match.h"
#include "compiler/graph/convolution/window.h"
#include "compiler/shapes/representative.h"

namespace scopevm::compiler::fusion {
namespace {

using graph::TensorType;

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

bool are(llvm::ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [&](int64_t v) { return v == value; });
}

bool is_depthwise(mlir::Operation* op) {
  auto conv = mlir::dyn_cast_or_null<graph::BlockedConvOp>(op);
  return conv && conv.getGroup() != 1 && type_of(conv.getW()).getDim(1).is_constant(1);
}

// True for a convolution of single pixels of `image`, which has no padding channels: the kernel
// does not replace them by zeros.
bool is_pointwise(graph::BlockedConvOp op, mlir::Value image) {
  if (!op || op.getX() != image || op.getGroup() != 1 || !are(op.getStrides(), 1) ||
      !are(op.getPads(), 0))
    return false;
  const TensorType x = type_of(image), w = type_of(op.getW());
  return x.getDtype() == DType::kF32 && x.getRank() == 5 && w.getDim(2).is_constant(1) &&
         w.getDim(3).is_constant(1) && x.getDim(1) * DimExpr(graph::kChannelBlock) == w.getDim(1);
}

}  // namespace

mlir::Operation* pointwise_tail(mlir::Operation* contraction, mlir::Value image) {
  // Smaller images stay in the L2 cache between two kernels.
  constexpr double kLeastBytes = 384 << 10;
  if (!is_depthwise(contraction) || !image.hasOneUse()) return nullptr;
  auto tail = mlir::dyn_cast<graph::BlockedConvOp>(*image.user_begin());
  if (!is_pointwise(tail, image) || tail->getBlock() != contraction->getBlock()) return nullptr;
  DimExpr bytes = static_cast<int64_t>(sizeof(float));
  for (DimExpr dim : type_of(image).getShape().drop_front()) bytes = bytes * dim;
  return representative(bytes) >= kLeastBytes ? tail : nullptr;
}

std::optional<FusedSeparable> match_separable(mlir::Operation* op) {
  auto group = mlir::dyn_cast<graph::GroupOp>(op);
  if (!group) return std::nullopt;
  FusedSeparable fused;
  fused.depthwise.op = fused.pointwise.op = op;
  mlir::Operation* inner = &group.getBody().front().front();
  while (take_op(fused.depthwise, inner)) inner = inner->getNextNode();
  auto pointwise = mlir::dyn_cast<graph::BlockedConvOp>(inner);
  if (!is_depthwise(fused.depthwise.contraction) || !pointwise ||
      !is_pointwise(pointwise, pointwise.getX()) || !pointwise.getX().getDefiningOp())
    return std::nullopt;
  // Both epilogues can use the splat constants of the group.
  llvm::copy_if(fused.depthwise.epilogue, std::back_inserter(fused.pointwise.epilogue),
                is_splat_constant);
  while (take_op(fused.pointwise, inner)) inner = inner->getNextNode();
  auto yield = mlir::dyn_cast<graph::YieldOp>(inner);
  if (!yield || !llvm::all_of(yield.getValues(), [](mlir::Value v) { return v.getDefiningOp(); }))
    return std::nullopt;
  fused.image = pointwise.getX();
  fused.pointwise.results.append(yield.getValues().begin(), yield.getValues().end());
  return fused;
}

}  // namespace scopevm::compiler::fusion

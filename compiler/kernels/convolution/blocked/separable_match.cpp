// Matches separable convolutions that one kernel can compute: a convolution of blocked images with
// one group per channel, its epilogue, and a convolution of single pixels. Another convolution of
// single pixels can be the first op.
#include "compiler/dims/representative.h"
#include "compiler/graph/convolution/window.h"
#include "compiler/graph/values/elements.h"
#include "compiler/kernels/convolution/convolution.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;
using graph::type_of;

bool are(llvm::ArrayRef<int64_t> values, int64_t value) {
  return llvm::all_of(values, [&](int64_t v) { return v == value; });
}

bool is_depthwise(mlir::Operation* op) {
  auto conv = mlir::dyn_cast_or_null<graph::BlockedConvOp>(op);
  return conv && conv.getGroup() != 1 && type_of(conv.getX()).getDtype() == DType::kF32 &&
         type_of(conv.getW()).getDim(1).is_constant(1);
}

// True for a convolution of single pixels of a blocked image.
bool is_pointwise(mlir::Operation* op) {
  auto conv = mlir::dyn_cast_or_null<graph::BlockedConvOp>(op);
  if (!conv || conv.getGroup() != 1 || !are(conv.getStrides(), 1) || !are(conv.getPads(), 0))
    return false;
  const TensorType x = type_of(conv.getX()), w = type_of(conv.getW());
  return x.getDtype() == DType::kF32 && x.getRank() == 5 && w.getDim(2).is_constant(1) &&
         w.getDim(3).is_constant(1);
}

// The same for an image without padding channels: the kernel does not replace them by zeros.
bool is_whole_pointwise(mlir::Operation* op) {
  if (!is_pointwise(op)) return false;
  auto conv = mlir::cast<graph::BlockedConvOp>(op);
  return type_of(conv.getX()).getDim(1) * DimExpr(graph::kChannelBlock) ==
         type_of(conv.getW()).getDim(1);
}

double bytes_of(mlir::Value image) {
  DimExpr bytes = static_cast<int64_t>(sizeof(float));
  for (DimExpr dim : type_of(image).getShape().drop_front()) bytes = bytes * dim;
  return representative(bytes);
}

// The convolution of single pixels of `image`, which is the result of `contraction` and its
// epilogue. Null unless one kernel can compute both, and is faster.
mlir::Operation* pointwise_tail(mlir::Operation* contraction, mlir::Value image) {
  // Smaller images stay in the L2 cache between two kernels.
  constexpr double kLeastBytes = 384 << 10;
  mlir::Operation* tail = fusion::only_user(image);
  const bool is_separable =
      is_depthwise(contraction) && is_whole_pointwise(tail) && tail->getOperand(0) == image;
  return is_separable && bytes_of(image) >= kLeastBytes ? tail : nullptr;
}

// The convolution with one group per channel of `image`, which is the result of `contraction` and
// its epilogue. Null unless one kernel can compute both and a pointwise_tail(), and is faster.
mlir::Operation* depthwise_tail(mlir::Operation* contraction, mlir::Value image) {
  // Measured on one core with 1 MB of L2, with one and three images. The time of the three ops
  // decreases by 1 to 30 % if `image` has 5 MB, by 2 to 5 % if it has 2 MB and the stride is 2, and
  // increases by up to 4 % if it has 2 MB and the stride is 1: strips of adjacent rows compute
  // repeated rows.
  constexpr double kLeastBytes = 1 << 20;
  constexpr int64_t kMostChannels = 128;
  mlir::Operation* tail = fusion::only_user(image);
  if (!is_pointwise(contraction) || !is_depthwise(tail) || tail->getOperand(0) != image)
    return nullptr;
  const std::optional<int64_t> channels =
      type_of(contraction->getOperand(1)).getDim(1).as_constant();
  auto depthwise = mlir::cast<graph::BlockedConvOp>(tail);
  const std::optional<int64_t> kernel = type_of(depthwise.getW()).getDim(2).as_constant();
  if (!channels || *channels > kMostChannels || !kernel) return nullptr;
  const int64_t stride = depthwise.getStrides()[0];
  const int64_t repeated =
      std::max<int64_t>((*kernel - 1) * depthwise.getDilations()[0] + 1 - stride, 0);
  const double least =
      kLeastBytes * (1 + static_cast<double>(repeated) / static_cast<double>(stride));
  return bytes_of(image) >= least ? tail : nullptr;
}

}  // namespace

llvm::SmallVector<mlir::Operation*> fusible_tail(graph::BlockedConvOp first, mlir::Value image,
                                                 graph::WithEpilogue with_epilogue) {
  if (mlir::Operation* pointwise = pointwise_tail(first, image)) return with_epilogue(pointwise);
  mlir::Operation* depthwise = depthwise_tail(first, image);
  if (!depthwise) return {};
  llvm::SmallVector<mlir::Operation*> tail = with_epilogue(depthwise);
  mlir::Operation* pointwise = pointwise_tail(depthwise, tail.back()->getResult(0));
  if (!pointwise) return {};
  llvm::append_range(tail, with_epilogue(pointwise));
  return tail;
}

std::optional<FusedSeparable> match_separable(mlir::Operation* op) {
  auto group = mlir::dyn_cast<graph::GroupOp>(op);
  if (!group) return std::nullopt;
  FusedSeparable fused;
  fused.depthwise.op = fused.pointwise.op = op;
  mlir::Operation* inner = &group.getBody().front().front();
  // Takes the next convolution and its epilogue. All epilogues can use the splat constants of the
  // group, which come after the first convolution.
  llvm::SmallVector<mlir::Operation*> splats;
  const auto take = [&](FusedContraction& part) {
    part.epilogue = splats;
    while (fusion::take_op(part, inner)) inner = inner->getNextNode();
    if (splats.empty())
      llvm::copy_if(part.epilogue, std::back_inserter(splats),
                    [](mlir::Operation* op) { return graph::splat_bits(op).has_value(); });
  };
  if (is_pointwise(inner)) {
    fused.expansion.emplace().op = op;
    take(*fused.expansion);
    if (!is_depthwise(inner) || !inner->getOperand(0).getDefiningOp()) return std::nullopt;
    fused.expansion->results.push_back(inner->getOperand(0));
  }
  take(fused.depthwise);
  auto pointwise = mlir::dyn_cast<graph::BlockedConvOp>(inner);
  if (!is_depthwise(fused.depthwise.contraction) || !is_whole_pointwise(pointwise) ||
      !pointwise.getX().getDefiningOp())
    return std::nullopt;
  take(fused.pointwise);
  auto yield = mlir::dyn_cast<graph::YieldOp>(inner);
  if (!yield || !llvm::all_of(yield.getValues(), [](mlir::Value v) { return v.getDefiningOp(); }))
    return std::nullopt;
  fused.image = pointwise.getX();
  fused.pointwise.results.append(yield.getValues().begin(), yield.getValues().end());
  return fused;
}

}  // namespace scopevm::compiler::kernels

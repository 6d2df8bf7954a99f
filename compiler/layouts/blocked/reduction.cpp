// Channels are axes 1 and 4 of a blocked image. The padding channels of the last block can have any
// value, so that reductions of channels read a number in place of it that does not change the
// result.
#include "compiler/layouts/blocked/reduction.h"

#include <limits>

#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/blocked/blocked.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::Combine;
using graph::kChannelBlock;
using graph::TensorType;
using graph::type_of;

mlir::Value scalar(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, float number) {
  const auto type = mlir::RankedTensorType::get({}, builder.getF32Type());
  return builder.create<graph::ConstantOp>(type_of(x).withShape({}),
                                           mlir::DenseElementsAttr::get(type, number));
}

// The number that changes no result of the reduction.
float neutral(Combine combine) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (combine) {
    case Combine::kSum:
      return 0;
    case Combine::kProduct:
      return 1;
    case Combine::kMax:
      return -kInfinity;
    case Combine::kMin:
      return kInfinity;
  }
  return 0;
}

// A blocked image with `number` in its padding channels.
mlir::Value with_padding(mlir::ImplicitLocOpBuilder& builder, mlir::Value x, int64_t channels,
                         float number) {
  if (channels % kChannelBlock == 0) return x;
  const int64_t blocks = (channels + kChannelBlock - 1) / kChannelBlock;
  const int64_t dims[] = {1, blocks, 1, 1, kChannelBlock};
  llvm::SmallVector<bool> is_channel(blocks * kChannelBlock);
  std::fill_n(is_channel.begin(), channels, true);
  const auto elements = mlir::DenseElementsAttr::get(
      mlir::RankedTensorType::get(dims, builder.getI1Type()), llvm::ArrayRef<bool>(is_channel));
  const TensorType type =
      type_of(x)
          .withDType(DType::kBool)
          .withShape(llvm::SmallVector<DimExpr>(std::begin(dims), std::end(dims)));
  const mlir::Value mask = builder.create<graph::ConstantOp>(type, elements);
  return builder.create<graph::SelectOp>(type_of(x), mask, x, scalar(builder, x, number));
}

// The reduction of all channels of a blocked image: [n, 1, h, w, 1].
template <typename Reduction>
mlir::Value over_channels(mlir::ImplicitLocOpBuilder& builder, mlir::Value x) {
  const TensorType type = type_of(x);
  return builder.create<Reduction>(
      type.withShape({type.getDim(0), 1, type.getDim(2), type.getDim(3), 1}), x,
      builder.getDenseI64ArrayAttr({1, 4}), builder.getBoolAttr(true));
}

mlir::Value reduced_channels(mlir::ImplicitLocOpBuilder& builder, const Candidate& candidate,
                             mlir::Value x) {
  auto op = mlir::cast<graph::ReductionOp>(candidate.op);
  const int64_t channels = *image_channels(op->getOperand(0).getType());
  // The mean of blocks with padding would count the padding.
  const bool has_mean = op.isMean() && channels % kChannelBlock == 0;
  x = with_padding(builder, x, channels, neutral(op.getCombine()));
  mlir::Value result;
  switch (op.getCombine()) {
    case Combine::kSum:
      result = has_mean ? over_channels<graph::ReduceMeanOp>(builder, x)
                        : over_channels<graph::ReduceSumOp>(builder, x);
      break;
    case Combine::kProduct:
      result = over_channels<graph::ReduceProdOp>(builder, x);
      break;
    case Combine::kMax:
      result = over_channels<graph::ReduceMaxOp>(builder, x);
      break;
    case Combine::kMin:
      result = over_channels<graph::ReduceMinOp>(builder, x);
      break;
  }
  if (op.isMean() && !has_mean)
    result = builder.create<graph::DivOp>(result.getType(), result,
                                          scalar(builder, x, static_cast<float>(channels)));
  return reshape(builder, result, type_of(op->getResult(0)).getShape());
}

// The reduced rows are [n, blocks, 1, 1, 16].
mlir::Value reduced_pixels(mlir::ImplicitLocOpBuilder& builder, const Candidate& candidate,
                           mlir::Value x) {
  const TensorType image = type_of(candidate.images.front());
  const TensorType type = type_of(candidate.op->getResult(0));
  const TensorType pixel = type.withShape({image.getDim(0), image.getDim(1), 1, 1});
  mlir::IRMapping blocked;
  blocked.map(candidate.images.front(), x);
  mlir::Operation* copy = builder.clone(*candidate.op, blocked);
  copy->setAttr("keep_dims", builder.getBoolAttr(true));
  const mlir::Value result = copy->getResult(0);
  copy->getResult(0).setType(blocked_type(pixel));
  if (candidate.has_blocked_result) return result;
  return reshape(builder, to_plain(builder, result, pixel), type.getShape());
}

}  // namespace

mlir::Value blocked_reduction(mlir::OpBuilder& builder, const Candidate& candidate, mlir::Value x) {
  const bool has_channels = mlir::cast<graph::ReductionOp>(candidate.op).getAxes().front() == 1;
  mlir::ImplicitLocOpBuilder at_op(candidate.op->getLoc(), builder);
  return has_channels ? reduced_channels(at_op, candidate, x) : reduced_pixels(at_op, candidate, x);
}

mlir::Value blocked_softmax(mlir::OpBuilder& builder, const Candidate& candidate, mlir::Value x) {
  mlir::Operation* op = candidate.op;
  const TensorType type = blocked_type(type_of(op->getResult(0)));
  const int64_t axis = mlir::cast<mlir::IntegerAttr>(op->getAttr("axis")).getInt();
  if (axis != 1) {
    mlir::IRMapping blocked;
    blocked.map(op->getOperand(0), x);
    mlir::Operation* copy = builder.clone(*op, blocked);
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }
  mlir::ImplicitLocOpBuilder at_op(op->getLoc(), builder);
  x = with_padding(at_op, x, *image_channels(op->getOperand(0).getType()), neutral(Combine::kMax));
  const mlir::Value greatest = over_channels<graph::ReduceMaxOp>(at_op, x);
  const mlir::Value shifted = at_op.create<graph::SubOp>(type, x, greatest);
  const mlir::Value powers = at_op.create<graph::ExpOp>(type, shifted);
  const mlir::Value sum = over_channels<graph::ReduceSumOp>(at_op, powers);
  if (mlir::isa<graph::SoftmaxOp>(op)) return at_op.create<graph::DivOp>(type, powers, sum);
  const mlir::Value logarithm = at_op.create<graph::LogOp>(sum.getType(), sum);
  return at_op.create<graph::SubOp>(type, shifted, logarithm);
}

}  // namespace scopevm::compiler::layouts

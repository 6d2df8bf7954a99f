// Reductions and softmax. Channels are axes 1 and 4 of a blocked image. The padding channels of the
// last block can have any value, so that reductions of channels read a number in place of it that
// does not change the result.
#include <limits>

#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/layout_ops.h"
#include "compiler/layouts/models/models.h"
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

// The attributes and the type of a reduction of all channels of a blocked image: [n, 1, h, w, 1].
TensorType channels_type(TensorType blocked) {
  return blocked.withShape({blocked.getDim(0), 1, blocked.getDim(2), blocked.getDim(3), 1});
}
template <typename Reduction>
mlir::Value over_channels(mlir::ImplicitLocOpBuilder& builder, mlir::Value x) {
  return builder.create<Reduction>(channels_type(type_of(x)), x,
                                   builder.getDenseI64ArrayAttr({1, 4}), builder.getBoolAttr(true));
}

// Reductions of all pixels or of all channels. One value per pixel has the same order of elements
// in both layouts.
struct ReductionModel : ImageModel<ReductionModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    auto reduction = mlir::cast<graph::ReductionOp>(op);
    const mlir::Type x = op->getOperand(0).getType();
    if (!image_channels(x) || type_of(op->getOperand(0)).getDtype() != DType::kF32 ||
        type_of(op->getResult(0)).getDtype() != DType::kF32)
      return std::nullopt;
    BlockedForm form{{op->getOperand(0)}};
    form.has_blocked_result = !has_channels(op) && reduction.getKeepDims();
    if (!has_channels(op) && reduction.getAxes() != llvm::ArrayRef<int64_t>({2, 3}))
      return std::nullopt;
    return form;
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm& form,
                            mlir::IRMapping& operands) const {
    mlir::ImplicitLocOpBuilder at_op(op->getLoc(), builder);
    return has_channels(op) ? of_channels(at_op, op, operands)
                            : of_pixels(at_op, op, form, operands);
  }

  // Reductions of spatial axes only that keep the order of the other dims. Those of channels, such
  // as those of a layer normalisation, are faster on channels-last images.
  bool canMoveChannels(mlir::Operation* op) const {
    auto reduction = mlir::cast<graph::ReductionOp>(op);
    const auto reduces = [&](int64_t axis) {
      return llvm::is_contained(reduction.getAxes(), axis);
    };
    return !reduces(3) && (reduction.getKeepDims() || (reduces(1) && reduces(2)));
  }
  void moveChannels(mlir::Operation* op) const {
    llvm::SmallVector<int64_t> axes;
    for (int64_t axis : mlir::cast<graph::ReductionOp>(op).getAxes())
      axes.push_back(kToChannelsLast[axis]);
    llvm::sort(axes);
    op->setAttr("axes", mlir::DenseI64ArrayAttr::get(op->getContext(), axes));
  }

 private:
  static bool has_channels(mlir::Operation* op) {
    return mlir::cast<graph::ReductionOp>(op).getAxes() == llvm::ArrayRef<int64_t>({1});
  }

  static mlir::Value of_channels(mlir::ImplicitLocOpBuilder& builder, mlir::Operation* op,
                                 mlir::IRMapping& operands) {
    auto reduction = mlir::cast<graph::ReductionOp>(op);
    const mlir::Value image = op->getOperand(0);
    const int64_t channels = *image_channels(image.getType());
    const mlir::Value x =
        with_padding(builder, operands.lookup(image), channels, neutral(reduction.getCombine()));
    mlir::Value result;
    if (reduction.isMean() && channels % kChannelBlock != 0) {
      // The mean of blocks with padding would count the padding.
      result = over_channels<graph::ReduceSumOp>(builder, x);
      result = builder.create<graph::DivOp>(result.getType(), result,
                                            scalar(builder, x, static_cast<float>(channels)));
    } else {
      mlir::Operation* copy = builder.clone(*op);
      copy->setOperand(0, x);
      copy->setAttr("axes", builder.getDenseI64ArrayAttr({1, 4}));
      copy->setAttr("keep_dims", builder.getBoolAttr(true));
      result = copy->getResult(0);
      result.setType(channels_type(type_of(x)));
    }
    return reshape(builder, result, type_of(op->getResult(0)).getShape());
  }

  // The reduced rows are [n, blocks, 1, 1, 16].
  static mlir::Value of_pixels(mlir::ImplicitLocOpBuilder& builder, mlir::Operation* op,
                               const BlockedForm& form, mlir::IRMapping& operands) {
    const TensorType image = type_of(op->getOperand(0)), type = type_of(op->getResult(0));
    const TensorType pixel = type.withShape({image.getDim(0), image.getDim(1), 1, 1});
    mlir::Operation* copy = builder.clone(*op, operands);
    copy->setAttr("keep_dims", builder.getBoolAttr(true));
    const mlir::Value result = copy->getResult(0);
    copy->getResult(0).setType(blocked_type(pixel));
    if (form.has_blocked_result) return result;
    return reshape(builder, to_plain(builder, result, pixel), type.getShape());
  }
};

struct SoftmaxModel : ImageModel<SoftmaxModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    return type_of(op->getResult(0)).getDtype() == DType::kF32 ? image_form(op) : std::nullopt;
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    if (mlir::cast<graph::RowOp>(op).getRowAxis() != 1)
      return clone_blocked(builder, op, operands)->getResult(0);
    const mlir::Value image = op->getOperand(0);
    mlir::ImplicitLocOpBuilder at_op(op->getLoc(), builder);
    const mlir::Value x = with_padding(at_op, operands.lookup(image),
                                       *image_channels(image.getType()), neutral(Combine::kMax));
    const mlir::Type type = x.getType();
    const mlir::Value greatest = over_channels<graph::ReduceMaxOp>(at_op, x);
    const mlir::Value shifted = at_op.create<graph::SubOp>(type, x, greatest);
    const mlir::Value powers = at_op.create<graph::ExpOp>(type, shifted);
    const mlir::Value sum = over_channels<graph::ReduceSumOp>(at_op, powers);
    if (mlir::isa<graph::SoftmaxOp>(op)) return at_op.create<graph::DivOp>(type, powers, sum);
    const mlir::Value logarithm = at_op.create<graph::LogOp>(sum.getType(), sum);
    return at_op.create<graph::SubOp>(type, shifted, logarithm);
  }
};

}  // namespace

void attach_reduction(mlir::MLIRContext& context) {
  attach_to_all<ReductionModel, graph::ReductionOp>(context);
  attach<SoftmaxModel, graph::SoftmaxOp, graph::LogSoftmaxOp>(context);
}

}  // namespace scopevm::compiler::layouts

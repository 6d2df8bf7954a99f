// Ops that move elements: concatenation, slices, padding and transposes.
#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/layout_ops.h"
#include "compiler/layouts/models/models.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::kChannelBlock;
using graph::TensorType;
using graph::type_of;

struct ConcatModel : ImageModel<ConcatModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    auto concat = mlir::cast<graph::ConcatOp>(op);
    if (concat.getAxis() != 1 || !image_form(op)) return std::nullopt;
    for (mlir::Value input : concat.getInputs())
      if (image_channels(input.getType()).value_or(INT64_MAX) > graph::kMaxWindow)
        return std::nullopt;
    return BlockedForm{llvm::SmallVector<mlir::Value, 2>(concat.getInputs())};
  }

  // Only the last operand of an ordinary concatenation can have padding channels.
  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    llvm::SmallVector<int64_t> counts;
    llvm::SmallVector<mlir::Value> inputs;
    for (mlir::Value input : op->getOperands()) {
      counts.push_back(*image_channels(input.getType()));
      inputs.push_back(operands.lookup(input));
    }
    if (llvm::all_of(llvm::drop_end(counts),
                     [](int64_t count) { return count % kChannelBlock == 0; }))
      return clone_blocked(builder, op, operands)->getResult(0);
    const llvm::SmallVector<int64_t> starts(counts.size(), 0);
    return builder.create<graph::BlockedConcatOp>(
        op->getLoc(), blocked_type(type_of(op->getResult(0))), inputs,
        builder.getDenseI64ArrayAttr(starts), builder.getDenseI64ArrayAttr(counts));
  }

  bool canMoveChannels(mlir::Operation* op) const {
    return type_of(op->getResult(0)).getRank() == 4;
  }
  void moveChannels(mlir::Operation* op) const {
    auto concat = mlir::cast<graph::ConcatOp>(op);
    concat.setAxis(kToChannelsLast[concat.getAxis()]);
  }
};

// Slices of adjacent channels.
struct SliceModel : ImageModel<SliceModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    auto slice = mlir::cast<graph::SliceOp>(op);
    std::optional<BlockedForm> form = image_form(op);
    if (!form) return std::nullopt;
    const std::optional<int64_t> channels = image_channels(slice.getX().getType());
    if (!channels || *channels > graph::kMaxWindow ||
        !slice.getStarts().getValue()[1].as_constant() || slice.getSteps()[1] != 1)
      return std::nullopt;
    return form;
  }

  // The blocks that contain the channels. If the first channel does not start a block, the channels
  // are moved.
  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    auto slice = mlir::cast<graph::SliceOp>(op);
    const TensorType type = blocked_type(type_of(slice.getResult()));
    const int64_t taken = *image_channels(slice.getResult().getType());
    const int64_t start = *slice.getStarts().getValue()[1].as_constant();
    int64_t skipped = start % kChannelBlock;
    mlir::Value x = operands.lookup(slice.getX());
    if (skipped != 0 && has_all_pixels(slice)) {
      skipped = start;
    } else {
      llvm::SmallVector<DimExpr> dims(type.getShape());
      dims[1] = (skipped + taken + kChannelBlock - 1) / kChannelBlock;
      if (!has_all_pixels(slice) || type_of(x).getDim(1) != dims[1])
        x = slice_of_blocks(builder, slice, operands, type.withShape(dims));
    }
    if (skipped == 0) return x;
    return builder.create<graph::BlockedConcatOp>(op->getLoc(), type, x,
                                                  builder.getDenseI64ArrayAttr({skipped}),
                                                  builder.getDenseI64ArrayAttr({taken}));
  }

  bool canMoveChannels(mlir::Operation*) const { return true; }
  void moveChannels(mlir::Operation* op) const {
    auto slice = mlir::cast<graph::SliceOp>(op);
    slice.setStartsAttr(by_channel(slice.getStarts()));
    slice.setSizesAttr(by_channel(slice.getSizes()));
    slice.setSteps(by_channel(slice.getSteps()));
  }

 private:
  // Whether a slice of channels takes all pixels of all images.
  static bool has_all_pixels(graph::SliceOp op) {
    const TensorType x = type_of(op.getX()), result = type_of(op.getResult());
    return llvm::all_of(op.getSteps(), [](int64_t step) { return step == 1; }) &&
           x.getDim(0) == result.getDim(0) && x.getDim(2) == result.getDim(2) &&
           x.getDim(3) == result.getDim(3);
  }

  static mlir::Value slice_of_blocks(mlir::OpBuilder& builder, graph::SliceOp op,
                                     mlir::IRMapping& operands, TensorType type) {
    auto copy = mlir::cast<graph::SliceOp>(builder.clone(*op, operands));
    copy.getResult().setType(type);
    llvm::SmallVector<DimExpr> starts(op.getStarts().getValue());
    starts[1] = floordiv(starts[1], kChannelBlock);
    starts.push_back(0);
    copy.setStartsAttr(graph::DimsAttr::get(op.getContext(), starts));
    copy.setSizesAttr(graph::DimsAttr::get(op.getContext(), type.getShape()));
    copy.setStepsAttr(appended(op.getStepsAttr(), 1));
    return copy.getResult();
  }
};

// Padding of the spatial axes.
struct PadModel : ImageModel<PadModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    auto pad = mlir::cast<graph::PadOp>(op);
    const llvm::ArrayRef<DimExpr> pads = pad.getPads().getValue();
    if (!image_channels(pad.getX().getType()) || !pads[1].is_constant(0) || !pads[5].is_constant(0))
      return std::nullopt;
    return image_form(op);
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    auto copy = mlir::cast<graph::PadOp>(clone_blocked(builder, op, operands));
    llvm::SmallVector<DimExpr> pads(copy.getPads().getValue());
    pads.insert(pads.begin() + 4, DimExpr(0));
    pads.push_back(0);
    copy.setPadsAttr(graph::DimsAttr::get(op->getContext(), pads));
    return copy.getResult();
  }

  bool canMoveChannels(mlir::Operation*) const { return true; }
  void moveChannels(mlir::Operation* op) const {
    auto pad = mlir::cast<graph::PadOp>(op);
    const llvm::ArrayRef<DimExpr> pads = pad.getPads().getValue();
    llvm::SmallVector<DimExpr> moved = by_channel(pads.take_front(4));
    llvm::append_range(moved, by_channel(pads.drop_front(4)));
    pad.setPadsAttr(graph::DimsAttr::get(op->getContext(), moved));
  }
};

// Conversions between images by channel and channels-last images. With blocked ones in place of the
// former, a conversion is one step as well.
struct TransposeModel : ImageModel<TransposeModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    BlockedForm form;
    form.has_blocked_result = is_to_by_channel(op);
    if (!form.has_blocked_result && !is_to_channels_last(op)) return std::nullopt;
    const mlir::Value image = image_of(op, form);
    if (image_channels(image.getType()).value_or(1) == 1) return std::nullopt;
    if (!form.has_blocked_result) form.images.push_back(image);
    return form;
  }

  schedule::LayoutTimes getTimes(mlir::Operation* op, const BlockedForm& form,
                                 const schedule::Core& core, const DimValues& known) const {
    const TensorType image = type_of(image_of(op, form));
    const int64_t channels = *image.getDim(1).as_constant();
    const double elements = words_of(image, known);
    const double seconds = schedule::conversion_seconds(elements, channels, core);
    // Padding channels are added or removed by another copy.
    return {schedule::conversion_seconds(elements, kChannelBlock, core),
            channels % kChannelBlock == 0 ? seconds : 2 * seconds};
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm& form,
                            mlir::IRMapping& operands) const {
    const TensorType image = type_of(image_of(op, form)), blocked = blocked_type(image);
    const DimExpr n = image.getDim(0), blocks = blocked.getDim(1), h = image.getDim(2),
                  w = image.getDim(3);
    mlir::Value x = operands.lookupOrDefault(op->getOperand(0));
    if (form.has_blocked_result) {
      x = reshape(builder, with_whole_blocks(builder, x, 3), {n, h, w, blocks, kChannelBlock});
      return transpose(builder, x, {0, 3, 1, 2, 4});
    }
    x = reshape(builder, transpose(builder, x, {0, 2, 3, 1, 4}),
                {n, h, w, blocks * DimExpr(kChannelBlock)});
    return first_elements(builder, x, type_of(op->getResult(0)).getShape());
  }

 private:
  // The image by channel.
  static mlir::Value image_of(mlir::Operation* op, const BlockedForm& form) {
    return form.has_blocked_result ? op->getResult(0) : op->getOperand(0);
  }
};

}  // namespace

void attach_layout(mlir::MLIRContext& context) {
  attach<ConcatModel, graph::ConcatOp>(context);
  attach<SliceModel, graph::SliceOp>(context);
  attach<PadModel, graph::PadOp>(context);
  attach<TransposeModel, graph::TransposeOp>(context);
}

}  // namespace scopevm::compiler::layouts

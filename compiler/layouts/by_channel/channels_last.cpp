// Converts images and the attributes of ops from channels last to by channel; see the header.
#include "compiler/layouts/by_channel/channels_last.h"

#include <array>

#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/layouts/blocked/blocked.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

constexpr int64_t kRank = 4;
// Axis i of a channels-last image is axis kToChannelsLast[i] of the image by channel. The inverse
// is kToByChannel.
constexpr std::array<int64_t, kRank> kToChannelsLast = {0, 2, 3, 1}, kToByChannel = {0, 3, 1, 2};

template <typename T>
llvm::SmallVector<T> permuted(llvm::ArrayRef<T> list, llvm::ArrayRef<int64_t> permutation) {
  llvm::SmallVector<T> result;
  for (int64_t axis : permutation) result.push_back(list[axis]);
  return result;
}

TensorType permuted(TensorType type, llvm::ArrayRef<int64_t> permutation) {
  return type.withShape(permuted(type.getShape(), permutation));
}

bool is_one(DimExpr dim) { return dim.is_constant(1); }

// Whether both forms have the same order of elements: one channel, or one pixel.
bool have_same_order(DimExpr channels, DimExpr height, DimExpr width) {
  return is_one(channels) || (is_one(height) && is_one(width));
}

// Whether the op can be replaced: no attribute or memory scope constrains its place, and its
// operands are stored on the device of its result.
bool is_movable(mlir::Operation* op) {
  if (op->getNumResults() != 1 || graph::has_placement_attributes(op) ||
      op->hasAttr(graph::kLocalAttribute))
    return false;
  auto result = mlir::dyn_cast<TensorType>(op->getResult(0).getType());
  if (!result || graph::has_scope(result)) return false;
  return llvm::all_of(op->getOperandTypes(), [&](mlir::Type type) {
    auto operand = mlir::dyn_cast<TensorType>(type);
    return operand && operand.getPlace() == result.getPlace();
  });
}

bool is_conversion(mlir::Operation* op, llvm::ArrayRef<int64_t> permutation) {
  if (auto transpose = mlir::dyn_cast<graph::TransposeOp>(op))
    return transpose.getPermutation() == permutation && is_movable(op);
  auto reshape = mlir::dyn_cast<graph::ReshapeOp>(op);
  if (!reshape || !is_movable(op)) return false;
  const TensorType x = type_of(reshape.getX()), result = type_of(reshape.getResult());
  if (x.getRank() != kRank || result != permuted(x, permutation)) return false;
  const TensorType last = permutation[1] == kToByChannel[1] ? x : result;
  return is_view_by_channel(last);
}

mlir::Value convert(mlir::OpBuilder& builder, mlir::Value image, bool is_view,
                    llvm::ArrayRef<int64_t> permutation) {
  if (is_view) return reshape(builder, image, permuted(type_of(image), permutation).getShape());
  return transpose(builder, image, permutation);
}

bool is_image(mlir::Value value) {
  return type_of(value).getRank() == kRank && !value.getDefiningOp<graph::ConstantOp>();
}

// Whether an operand that is not an image can be broadcast to an image by channel without a copy in
// the program.
bool is_free_by_channel(mlir::Value operand) {
  const TensorType type = type_of(operand);
  return type.getRank() <= kRank && (operand.getDefiningOp<graph::ConstantOp>() ||
                                     is_view_by_channel(type.withShape(padded_dims(type))));
}

// Whether the op reduces spatial axes only, and keeps the order of the other dims. Reductions of
// channels, such as those of a layer normalisation, are faster on channels-last images.
bool is_movable_reduction(graph::ReductionOp op) {
  const auto reduces = [&](int64_t axis) { return llvm::is_contained(op.getAxes(), axis); };
  return !reduces(3) && (op.getKeepDims() || (reduces(1) && reduces(2)));
}

// The value, as a constant if its op folds. REQUIRES: its op is unused.
mlir::Value folded(mlir::OpBuilder& builder, mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  llvm::SmallVector<mlir::OpFoldResult, 1> results;
  if (failed(op->fold(results)) || results.empty()) return value;
  auto elements =
      mlir::dyn_cast_or_null<mlir::ElementsAttr>(mlir::dyn_cast<mlir::Attribute>(results.front()));
  if (!elements) return value;
  const mlir::Value constant =
      builder.create<graph::ConstantOp>(op->getLoc(), value.getType(), elements);
  op->erase();
  return constant;
}

// The form of an operand for which is_free_by_channel(). A constant of [c] becomes one of
// [c, 1, 1].
mlir::Value free_by_channel(mlir::OpBuilder& builder, mlir::Value value) {
  const TensorType type = type_of(value);
  if (llvm::all_of(type.getShape(), is_one)) return value;
  const TensorType last = type.withShape(padded_dims(type));
  const TensorType by_channel = permuted(last, kToByChannel);
  if (is_view_by_channel(last))
    return folded(
        builder, reshape(builder, value, by_channel.getShape().drop_front(type.getRank() < kRank)));
  if (type.getRank() < kRank) value = folded(builder, reshape(builder, value, last.getShape()));
  return folded(builder, transpose(builder, value, kToByChannel));
}

// --- Attributes. --------------------------------------------------------------------------------

graph::DimsAttr permuted(graph::DimsAttr dims) {
  return graph::DimsAttr::get(dims.getContext(), permuted(dims.getValue(), kToByChannel));
}

void permute_axes(graph::PadOp op) {
  const llvm::ArrayRef<DimExpr> pads = op.getPads().getValue();
  llvm::SmallVector<DimExpr> moved = permuted(pads.take_front(kRank), kToByChannel);
  llvm::append_range(moved, permuted(pads.drop_front(kRank), kToByChannel));
  op.setPadsAttr(graph::DimsAttr::get(op.getContext(), moved));
}

void permute_axes(graph::SliceOp op) {
  op.setStartsAttr(permuted(op.getStarts()));
  op.setSizesAttr(permuted(op.getSizes()));
  op.setStepsAttr(
      mlir::DenseI64ArrayAttr::get(op.getContext(), permuted(op.getSteps(), kToByChannel)));
}

void permute_axes(graph::ResizeOp op) {
  op.setDimsAttr(permuted(op.getDims()));
  if (!op.getScales().empty()) op.setScales(permuted(op.getScales(), kToByChannel));
}

void permute_axes(graph::ReductionOp op) {
  llvm::SmallVector<int64_t> axes;
  for (int64_t axis : op.getAxes()) axes.push_back(kToChannelsLast[axis]);
  llvm::sort(axes);
  op->setAttr("axes", mlir::DenseI64ArrayAttr::get(op->getContext(), axes));
}

void permute_axes(mlir::Operation* op) {
  if (auto concat = mlir::dyn_cast<graph::ConcatOp>(op)) {
    concat.setAxis(kToChannelsLast[concat.getAxis()]);
  } else if (auto pad = mlir::dyn_cast<graph::PadOp>(op)) {
    permute_axes(pad);
  } else if (auto slice = mlir::dyn_cast<graph::SliceOp>(op)) {
    permute_axes(slice);
  } else if (auto resize = mlir::dyn_cast<graph::ResizeOp>(op)) {
    permute_axes(resize);
  } else if (auto reduction = mlir::dyn_cast<graph::ReductionOp>(op)) {
    permute_axes(reduction);
  }
}

}  // namespace

bool is_view_by_channel(TensorType channels_last) {
  return have_same_order(channels_last.getDim(3), channels_last.getDim(1), channels_last.getDim(2));
}

bool is_to_channels_last(mlir::Operation* op) { return is_conversion(op, kToChannelsLast); }
bool is_to_by_channel(mlir::Operation* op) { return is_conversion(op, kToByChannel); }

mlir::Value to_channels_last(mlir::OpBuilder& builder, mlir::Value image) {
  return convert(builder, image, is_view_by_channel(permuted(type_of(image), kToChannelsLast)),
                 kToChannelsLast);
}

mlir::Value to_by_channel(mlir::OpBuilder& builder, mlir::Value image) {
  return convert(builder, image, is_view_by_channel(type_of(image)), kToByChannel);
}

llvm::SmallVector<mlir::Value, 2> movable_images(mlir::Operation* op) {
  if (!is_movable(op)) return {};
  if (mlir::isa<graph::ElementwiseOp, graph::ConcatOp>(op)) {
    if (type_of(op->getResult(0)).getRank() != kRank) return {};
    llvm::SmallVector<mlir::Value, 2> images;
    for (mlir::Value operand : op->getOperands()) {
      if (is_image(operand))
        images.push_back(operand);
      else if (!is_free_by_channel(operand))
        return {};
    }
    return images;
  }
  auto reduction = mlir::dyn_cast<graph::ReductionOp>(op);
  const bool has_form = reduction ? is_movable_reduction(reduction)
                                  : mlir::isa<graph::PadOp, graph::SliceOp, graph::ResizeOp>(op);
  if (!has_form || !is_image(op->getOperand(0))) return {};
  return {op->getOperand(0)};
}

mlir::Value clone_by_channel(mlir::OpBuilder& builder, mlir::Operation* op,
                             mlir::IRMapping& images) {
  if (mlir::isa<graph::ElementwiseOp, graph::ConcatOp>(op))
    for (mlir::Value operand : op->getOperands())
      if (!images.contains(operand)) images.map(operand, free_by_channel(builder, operand));
  mlir::Operation* copy = builder.clone(*op, images);
  mlir::Value result = copy->getResult(0);
  if (type_of(result).getRank() == kRank) result.setType(permuted(type_of(result), kToByChannel));
  permute_axes(copy);
  return result;
}

}  // namespace scopevm::compiler::layouts

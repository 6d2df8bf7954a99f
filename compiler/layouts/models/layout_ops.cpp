#include "compiler/layouts/models/layout_ops.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/models/image.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::kChannelBlock;
using graph::TensorType;
using graph::type_of;

constexpr int64_t kRank = 4;

TensorType permuted_type(TensorType type, llvm::ArrayRef<int64_t> permutation) {
  return type.withShape(permuted(type.getShape(), permutation));
}

bool is_one(DimExpr dim) { return dim.is_constant(1); }

bool is_conversion(mlir::Operation* op, llvm::ArrayRef<int64_t> permutation) {
  if (auto transpose = mlir::dyn_cast<graph::TransposeOp>(op))
    return transpose.getPermutation() == permutation && is_movable(op);
  auto reshape = mlir::dyn_cast<graph::ReshapeOp>(op);
  if (!reshape || !is_movable(op)) return false;
  const TensorType x = type_of(reshape.getX()), result = type_of(reshape.getResult());
  if (x.getRank() != kRank || result != permuted_type(x, permutation)) return false;
  return is_view_by_channel(permutation[1] == kToByChannel[1] ? x : result);
}

mlir::Value convert(mlir::OpBuilder& builder, mlir::Value image, bool is_view,
                    llvm::ArrayRef<int64_t> permutation) {
  if (is_view)
    return reshape(builder, image, permuted_type(type_of(image), permutation).getShape());
  return transpose(builder, image, permutation);
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

}  // namespace

mlir::Value reshape(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<DimExpr> dims) {
  return builder.create<graph::ReshapeOp>(x.getLoc(), type_of(x).withShape(dims), x,
                                          graph::DimsAttr::get(builder.getContext(), dims));
}

mlir::Value transpose(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<int64_t> order) {
  return builder.create<graph::TransposeOp>(x.getLoc(), permuted_type(type_of(x), order), x,
                                            builder.getDenseI64ArrayAttr(order));
}

mlir::Value first_elements(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<DimExpr> dims) {
  if (type_of(x).getShape() == dims) return x;
  const llvm::SmallVector<DimExpr> zeros(dims.size(), DimExpr(0));
  const llvm::SmallVector<int64_t> ones(dims.size(), 1);
  return builder.create<graph::SliceOp>(
      x.getLoc(), type_of(x).withShape(dims), x, graph::DimsAttr::get(builder.getContext(), zeros),
      graph::DimsAttr::get(builder.getContext(), dims), builder.getDenseI64ArrayAttr(ones));
}

llvm::SmallVector<DimExpr> padded_dims(TensorType type) {
  llvm::SmallVector<DimExpr> dims(kRank - type.getRank(), DimExpr(1));
  dims.append(type.getShape().begin(), type.getShape().end());
  return dims;
}

mlir::Value with_whole_blocks(mlir::OpBuilder& builder, mlir::Value image, int64_t axis) {
  const TensorType type = type_of(image);
  const int64_t channels = *type.getDim(axis).as_constant();
  const int64_t missing = (kChannelBlock - channels % kChannelBlock) % kChannelBlock;
  if (missing == 0) return image;
  llvm::SmallVector<DimExpr> dims(type.getShape()), pads(2 * kRank, DimExpr(0));
  dims[axis] = channels + missing;
  pads[kRank + axis] = missing;
  return builder.create<graph::PadOp>(image.getLoc(), type.withShape(dims), image, mlir::Value(),
                                      graph::DimsAttr::get(builder.getContext(), pads),
                                      builder.getStringAttr("constant"));
}

mlir::Value to_blocked(mlir::OpBuilder& builder, mlir::Value image) {
  const TensorType type = type_of(image), blocked = blocked_type(type);
  image = with_whole_blocks(builder, image, 1);
  if (is_pixel(type)) return reshape(builder, image, blocked.getShape());
  image =
      reshape(builder, image,
              {type.getDim(0), blocked.getDim(1), kChannelBlock, type.getDim(2), type.getDim(3)});
  return transpose(builder, image, {0, 1, 3, 4, 2});
}

mlir::Value to_plain(mlir::OpBuilder& builder, mlir::Value blocked, TensorType type) {
  const DimExpr channels = blocked_type(type).getDim(1) * DimExpr(kChannelBlock);
  if (!is_pixel(type)) blocked = transpose(builder, blocked, {0, 1, 4, 2, 3});
  const mlir::Value image =
      reshape(builder, blocked, {type.getDim(0), channels, type.getDim(2), type.getDim(3)});
  return first_elements(builder, image, type.getShape());
}

// Both forms have the same order of elements if there is one channel, or one pixel.
bool is_view_by_channel(TensorType last) {
  return is_one(last.getDim(3)) || (is_one(last.getDim(1)) && is_one(last.getDim(2)));
}

bool is_to_channels_last(mlir::Operation* op) { return is_conversion(op, kToChannelsLast); }
bool is_to_by_channel(mlir::Operation* op) { return is_conversion(op, kToByChannel); }

mlir::Value to_channels_last(mlir::OpBuilder& builder, mlir::Value image) {
  return convert(builder, image, is_view_by_channel(permuted_type(type_of(image), kToChannelsLast)),
                 kToChannelsLast);
}

mlir::Value to_by_channel(mlir::OpBuilder& builder, mlir::Value image) {
  return convert(builder, image, is_view_by_channel(type_of(image)), kToByChannel);
}

bool is_free_by_channel(mlir::Value operand) {
  const TensorType type = type_of(operand);
  return type.getRank() <= kRank && (operand.getDefiningOp<graph::ConstantOp>() ||
                                     is_view_by_channel(type.withShape(padded_dims(type))));
}

mlir::Value free_by_channel(mlir::OpBuilder& builder, mlir::Value operand) {
  const TensorType type = type_of(operand);
  if (llvm::all_of(type.getShape(), is_one)) return operand;
  const TensorType last = type.withShape(padded_dims(type));
  if (is_view_by_channel(last)) {
    const TensorType first = permuted_type(last, kToByChannel);
    return folded(builder,
                  reshape(builder, operand, first.getShape().drop_front(type.getRank() < kRank)));
  }
  if (type.getRank() < kRank) operand = folded(builder, reshape(builder, operand, last.getShape()));
  return folded(builder, transpose(builder, operand, kToByChannel));
}

}  // namespace scopevm::compiler::layouts

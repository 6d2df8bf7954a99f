// Ops that change the layout of images: conversions between images by channel, [n, c, h, w],
// blocked images, [n, ceil(c / 16), h, w, 16], and channels-last images, [n, h, w, c]. All
// functions create ops with the location and place of their operand.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::layouts {

mlir::Value reshape(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<DimExpr> dims);
mlir::Value transpose(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<int64_t> order);
mlir::Value first_elements(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<DimExpr> dims);

// The dims of an operand of rank 4 or less, padded with ones at the front.
llvm::SmallVector<DimExpr> padded_dims(graph::TensorType type);

// An image of any layout whose channels, along `axis`, are padded to whole blocks.
mlir::Value with_whole_blocks(mlir::OpBuilder& builder, mlir::Value image, int64_t axis);

// Conversions between an image and its blocked form. `type` is that of the image.
mlir::Value to_blocked(mlir::OpBuilder& builder, mlir::Value image);
mlir::Value to_plain(mlir::OpBuilder& builder, mlir::Value blocked, graph::TensorType type);

// Whether the op converts an image by channel to a channels-last image, or the inverse. It is a
// transpose, or a reshape if both forms have the same order of elements. An op whose place is
// constrained is neither.
bool is_to_channels_last(mlir::Operation* op);
bool is_to_by_channel(mlir::Operation* op);

mlir::Value to_channels_last(mlir::OpBuilder& builder, mlir::Value image);
mlir::Value to_by_channel(mlir::OpBuilder& builder, mlir::Value image);

// Whether the conversion of a channels-last image to an image by channel is a view.
bool is_view_by_channel(graph::TensorType channels_last);

// Whether an operand that is not an image can be broadcast to an image by channel without a copy in
// the program.
bool is_free_by_channel(mlir::Value operand);
// Returns an operand with the same elements that broadcasts to images by channel: a constant of [c]
// becomes a constant of [c, 1, 1].
mlir::Value free_by_channel(mlir::OpBuilder& builder, mlir::Value operand);

// Axis i of a channels-last image is axis kToChannelsLast[i] of the image by channel. The inverse
// is kToByChannel.
inline constexpr int64_t kToChannelsLast[] = {0, 2, 3, 1}, kToByChannel[] = {0, 3, 1, 2};

template <typename T>
llvm::SmallVector<T> permuted(llvm::ArrayRef<T> list, llvm::ArrayRef<int64_t> permutation) {
  llvm::SmallVector<T> result;
  for (int64_t axis : permutation) result.push_back(list[axis]);
  return result;
}
// Entries of the axes of a channels-last image in the order of the axes by channel.
template <typename T>
llvm::SmallVector<T> by_channel(llvm::ArrayRef<T> list) {
  return permuted(list, kToByChannel);
}
inline graph::DimsAttr by_channel(graph::DimsAttr dims) {
  return graph::DimsAttr::get(dims.getContext(), by_channel(dims.getValue()));
}

}  // namespace scopevm::compiler::layouts

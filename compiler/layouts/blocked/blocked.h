// The blocked forms of types, constants and values.
#pragma once

#include <optional>

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::layouts {

// The number of channels of an image: f32[n, c, h, w] in the default scope, where c is a positive
// constant. Empty for any other type.
std::optional<int64_t> image_channels(mlir::Type type);
// The same for operands and results of elementwise ops, which can also be bool: conditions.
std::optional<int64_t> elementwise_channels(mlir::Type type);

// [n, ceil(c / 16), h, w, 16]. REQUIRES: `type` is an image.
graph::TensorType blocked_type(graph::TensorType type);

// True for images of 1 x 1 pixels: if their channels are whole blocks, a conversion is a view.
bool is_pixel(graph::TensorType type);

// The dims of an operand of rank 4 or less, padded with ones at the front.
llvm::SmallVector<DimExpr> padded_dims(graph::TensorType type);

// How an operand of an elementwise op is used in blocked form. `image` is the op's result type.
enum class Operand : uint8_t {
  kImage,     // an image with the same channels: it is blocked
  kConstant,  // a constant with one element per channel: its elements are blocked
  kSame,      // the same for all channels
  kOther,     // cannot be used
};
Operand operand_kind(mlir::Value operand, graph::TensorType image);

// The blocked form of a constant of kind kConstant, padded with zeros.
mlir::Value blocked_constant(mlir::OpBuilder& builder, graph::ConstantOp constant);
// [blocks, 1, 1, 16] of a constant with one element per channel.
mlir::Value blocked_bias(mlir::OpBuilder& builder, graph::ConstantOp constant);
// The weights of a convolution with `group` groups, of which each `merged` adjacent ones become one
// group: weights between different groups are 0.
mlir::Value merged_weights(mlir::OpBuilder& builder, graph::ConstantOp weights, int64_t group,
                           int64_t merged);
// The weights of a convolution that computes `pixels` adjacent pixels as output channels. Row
// pixel * rows + r has the elements of row r, from column pixel * stride on.
mlir::Value pixel_weights(mlir::OpBuilder& builder, graph::ConstantOp weights, int64_t pixels,
                          int64_t stride);
// The bias of this convolution: [1, 1, 1, 16].
mlir::Value pixel_bias(mlir::OpBuilder& builder, graph::ConstantOp constant, int64_t pixels);
// The weights of sv.blocked_conv_transpose for those of a transposed convolution.
mlir::Value phase_weights(mlir::OpBuilder& builder, graph::ConstantOp weights,
                          llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> pads);
// The weights of a product for flattened blocked images, f32 of rank 2. Axis `axis` counts the
// elements of an image. REQUIRES: `channels` are whole blocks.
mlir::Value blocked_rows(mlir::OpBuilder& builder, graph::ConstantOp weights, int64_t channels,
                         int64_t axis);
// The form of an operand of kind kSame that broadcasts to a blocked image.
mlir::Value same_for_channels(mlir::OpBuilder& builder, mlir::Value value);

// Ops with the place of x, and a constant with other elements in place of `constant`.
mlir::Value reshape(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<DimExpr> dims);
mlir::Value transpose(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<int64_t> order);
mlir::Value first_elements(mlir::OpBuilder& builder, mlir::Value x, llvm::ArrayRef<DimExpr> dims);
mlir::Value constant_of(mlir::OpBuilder& builder, graph::ConstantOp constant,
                        llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> elements);

// Conversions of an image.
mlir::Value to_blocked(mlir::OpBuilder& builder, mlir::Value image);
mlir::Value to_plain(mlir::OpBuilder& builder, mlir::Value blocked, graph::TensorType type);

}  // namespace scopevm::compiler::layouts

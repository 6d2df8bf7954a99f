// The weights and biases of blocked convolutions, as constants rearranged at compile time.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::layouts {

// [blocks, 1, 1, 16] of a constant with one element per channel.
mlir::Value blocked_bias(mlir::OpBuilder& builder, mlir::Value bias);
// The weights of a convolution with `group` groups, of which each `merged` adjacent ones become one
// group: weights between different groups are 0.
mlir::Value merged_weights(mlir::OpBuilder& builder, mlir::Value weights, int64_t group,
                           int64_t merged);
// The weights of a convolution that computes `pixels` adjacent pixels as output channels. Row
// pixel * rows + r has the elements of row r, from column pixel * stride on.
mlir::Value pixel_weights(mlir::OpBuilder& builder, mlir::Value weights, int64_t pixels,
                          int64_t stride);
// The bias of this convolution: [1, 1, 1, 16].
mlir::Value pixel_bias(mlir::OpBuilder& builder, mlir::Value bias, int64_t pixels);
// The weights of sv.blocked_conv_transpose for those of a transposed convolution.
mlir::Value phase_weights(mlir::OpBuilder& builder, mlir::Value weights,
                          llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> pads);

}  // namespace scopevm::compiler::layouts

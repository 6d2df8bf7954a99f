// Channels-last images, [n, h, w, c], as in models of TensorFlow, and the ops that can compute the
// same values by channel, [n, c, h, w].
#pragma once

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::layouts {

// Whether the op converts an image by channel to a channels-last image, or the inverse. It is a
// transpose, or a reshape if both forms have the same order of elements. An op whose place is
// constrained is neither.
bool is_to_channels_last(mlir::Operation* op);
bool is_to_by_channel(mlir::Operation* op);

// Conversions of an image, with its location and place.
mlir::Value to_channels_last(mlir::OpBuilder& builder, mlir::Value image);
mlir::Value to_by_channel(mlir::OpBuilder& builder, mlir::Value image);

// Whether the conversion of a channels-last image is a view.
bool is_view_by_channel(graph::TensorType channels_last);

// The operands of rank 4 that an op on channels-last images reads by channel when it is cloned by
// clone_by_channel(). Empty if the op cannot be cloned so. Constants are not included.
llvm::SmallVector<mlir::Value, 2> movable_images(mlir::Operation* op);

// Clones the op for images by channel at the insertion point of `builder`. `images` maps its
// movable_images() to their forms by channel; other operands are added to it. A result of rank 4 is
// by channel, and any other result is unchanged. REQUIRES: movable_images(op) is not empty.
mlir::Value clone_by_channel(mlir::OpBuilder& builder, mlir::Operation* op,
                             mlir::IRMapping& images);

}  // namespace scopevm::compiler::layouts

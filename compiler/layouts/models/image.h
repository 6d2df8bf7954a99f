// Types of images, and forms of ops that read one image.
#pragma once

#include "compiler/layouts/image_op.h"

namespace scopevm::compiler::layouts {

// The number of channels of an image: [n, c, h, w] of f32, u8 or i8 in the default scope, where c
// is a positive constant. Empty for any other type.
std::optional<int64_t> image_channels(mlir::Type type);
// The same for operands and results of elementwise ops, which can also be bool, conditions, or i32,
// sums of bytes.
std::optional<int64_t> elementwise_channels(mlir::Type type);

// Whether an elementwise op on blocked images can have an operand or result of this type.
bool is_elementwise(graph::TensorType type);

// [n, ceil(c / 16), h, w, 16]. REQUIRES: `type` is an image.
graph::TensorType blocked_type(graph::TensorType type);

// True for images of 1 x 1 pixels: if their channels are whole blocks, a conversion is a view.
bool is_pixel(graph::TensorType type);

// The elements of an image, as a number of f32 elements with as many bytes.
double words_of(graph::TensorType image, const DimValues& known = {});

// The time of a conversion between an image and its blocked form.
double conversion_seconds(graph::TensorType image, const schedule::Core& core,
                          const DimValues& known = {});

// The form of an op whose result and operand 0 are images. Empty if the result is not an image of
// several channels: one channel cannot be distinguished from an operand that is the same for all.
std::optional<BlockedForm> image_form(mlir::Operation* op);

// Whether an attribute or a memory scope constrains the place of the op, which has one result.
bool is_fixed(mlir::Operation* op);

// Whether the op can be replaced by ops at the same place: it is not fixed, and its operands are
// stored on the device of its result.
bool is_movable(mlir::Operation* op);

// An attribute with one more entry, for the channels of a block: a third spatial axis.
mlir::DenseI64ArrayAttr appended(mlir::DenseI64ArrayAttr list, int64_t entry);

}  // namespace scopevm::compiler::layouts

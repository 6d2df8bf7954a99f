// Convolutions. x is [n, c, spatial...] with c input channels, and bias is [m] with m output
// channels. `pads` lists the padding before each spatial axis, then the padding after each one.
// Convolutions of u8 with i8 weights have i32 sums and no bias. Their padding is the number 0.
#ifndef SCOPEVM_GRAPH_CONVOLUTION_OPS
#define SCOPEVM_GRAPH_CONVOLUTION_OPS

include "compiler/graph/op_classes.td"

// The output axes of images [batch, channels, spatial...], whose rows are channels, and of blocked
// images, whose rows are pixels.
defvar kChannelRows = "OutputAxes getOutputAxes() { return {.rows = 1, .columns = 2}; }";
defvar kPixelRows = "OutputAxes getOutputAxes() { return {.rows = 2, .columns = 4}; }";

class Graph_Convolution<string mnemonic, string summary, string axes>
    : Graph_Op<mnemonic, summary, [Graph_ContractionOp, Graph_WindowOp]> {
  let elements = [kNumber];
  let parallel_axes = "leading_axes(*this, 1)";
  let declarations = axes # [{
    ::llvm::SmallVector<DimExpr> getWindowDims();
    DimExpr getFlops();
  }];
}

// w is [m, c / group, kernel...].
def ConvOp : Graph_Convolution<"conv", "convolution (cross-correlation)", kChannelRows> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$group);
  let parallel_axes = "";
}
// The images of the result are blocked: [n, ceil(m / 16), h, w, 16], where element [i, b, y, x, j] is
// of output channel 16 * b + j. If m is not a multiple of 16, the last channels of the last block
// are padding: they can be any number. x is blocked, or has few channels and is [n, c, h, w]. w is
// [m, c / group, kernel...]. Group is 1, or each group has whole blocks of channels in x and the
// result, or c is m and a group has 1, 2, 4 or 8 channels.
// The elements are f32, or those of x u8, of w i8 and of the result i32; x is then blocked.
// `winograd` permits Winograd's algorithm, whose rounding errors are larger, for windows of 3x3
// elements with strides, dilations and group 1. `schedule` is a form of the schedule as text
// (compiler/schedule/convolution.h); without it, the kernel chooses.
def BlockedConvOp : Graph_Convolution<"blocked_conv",
                                      "convolution of images whose channels are in blocks of 16",
                                      kPixelRows> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, I64Attr:$group,
                       UnitAttr:$winograd, OptionalAttr<StrAttr>:$schedule);
}

// w is [c, m / group, kernel...].
def ConvTransposeOp : Graph_Convolution<"conv_transpose", "transposed convolution", kChannelRows> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_pads, I64Attr:$group);
}
// x and the result are blocked, as in sv.blocked_conv. The result has one phase per remainder of
// (y, x) modulo the strides; phase (i, j) has number i * strides[1] + j. w is
// [phases * m, c, taps...], where m is the number of output channels, a multiple of 16, and taps is
// ceil(kernel / strides). Tap t of a phase along an axis is kernel element
// (phase + pad) mod stride + (taps - 1 - t) * stride, or 0 if there is none.
def BlockedConvTransposeOp
    : Graph_Convolution<"blocked_conv_transpose",
                        "transposed convolution of images whose channels are in blocks of 16",
                        kPixelRows> {
  let elements = [kFloat];
  let declarations = kPixelRows # [{
    ::llvm::SmallVector<DimExpr> getWindowDims();
    ::llvm::ArrayRef<int64_t> getDilations();
    DimExpr getFlops();
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$output_pads);
}

// The operands and the result are blocked images. Operand i provides the counts[i] channels from
// channel starts[i] on.
def BlockedConcatOp
    : Graph_Op<"blocked_concat", "ranges of channels of blocked images, concatenated"> {
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$counts);
  let elements = [kNumber];
}

#endif

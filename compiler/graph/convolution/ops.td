// Convolutions. x is [n, c, spatial...] with c input channels, and bias is [m] with m output
// channels. `pads` lists the padding before each spatial axis, then the padding after each one.
#ifndef SCOPEVM_GRAPH_CONVOLUTION_OPS
#define SCOPEVM_GRAPH_CONVOLUTION_OPS

include "compiler/graph/op_classes.td"

class Graph_Convolution<string mnemonic, string summary>
    : Graph_Op<mnemonic, summary, [Graph_Contraction, Graph_WindowOp]> {
  let elements = [kNumber];
  let declarations = [{
    ::llvm::SmallVector<DimExpr> getWindowDims();
    DimExpr getFlops();
  }];
}

// w is [m, c / group, kernel...].
def ConvOp : Graph_Convolution<"conv", "convolution (cross-correlation)"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, I64Attr:$group);
}
// w is [c, m / group, kernel...].
def ConvTransposeOp : Graph_Convolution<"conv_transpose", "transposed convolution"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$w, Optional<Graph_Tensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_pads, I64Attr:$group);
}

#endif

// The dims of a 1-D or 2-D convolution, as those of a 2-D convolution. A 1-D input is an image of
// height 1.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::kernels {

struct ConvShape {
  DimExpr images, channels, height = 1, width;  // of x
  DimExpr rows;                                 // output channels
  DimExpr out_height = 1, out_width;
  int64_t groups = 1;
  // Element 0 is along the height, element 1 along the width. `pads` has only the padding before
  // the first element.
  DimExpr kernel[2] = {1, 1};
  int64_t strides[2] = {1, 1}, pads[2] = {0, 0}, dilations[2] = {1, 1};

  explicit ConvShape(graph::ConvOp op) {
    auto x = mlir::cast<graph::TensorType>(op.getX().getType());
    auto w = mlir::cast<graph::TensorType>(op.getW().getType());
    auto result = mlir::cast<graph::TensorType>(op.getResult().getType());
    int64_t dims = x.getRank() - 2;
    images = x.getDim(0);
    channels = x.getDim(1);
    rows = w.getDim(0);
    groups = op.getGroup();
    width = x.getDim(x.getRank() - 1);
    out_width = result.getDim(x.getRank() - 1);
    if (dims == 2) {
      height = x.getDim(2);
      out_height = result.getDim(2);
    }
    for (int64_t axis = 0; axis < dims; ++axis) {
      int64_t to = axis + 2 - dims;
      kernel[to] = w.getDim(2 + axis);
      strides[to] = op.getStrides()[axis];
      pads[to] = op.getPads()[axis];
      dilations[to] = op.getDilations()[axis];
    }
  }

  DimExpr positions() const { return out_height * out_width; }
};

}  // namespace scopevm::compiler::kernels

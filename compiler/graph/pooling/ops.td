// Pooling of x: [n, c, spatial...]. Each result element is computed from a window or box of x.
#ifndef SCOPEVM_GRAPH_POOLING_OPS
#define SCOPEVM_GRAPH_POOLING_OPS

include "compiler/graph/op_classes.td"

class Graph_Pool<string mnemonic, string summary, list<Trait> traits = []>
    : Graph_Op<mnemonic, summary, !listconcat(traits, [Graph_WindowOp])> {
  let elements = [kNumber];
  let checks = kNoChecks;
  let parallel_axes = "leading_axes(*this, 2)";
  let declarations = [{
    ::llvm::SmallVector<DimExpr> getWindowDims() {
      return ::llvm::to_vector(::llvm::map_range(getKernel(), [](int64_t dim) { return DimExpr(dim); }));
    }
  }];
}

// The maximum of a window without elements is the lowest value: -infinity for floats.
def MaxPoolOp : Graph_Pool<"max_pool", "maximum of each window; NaN elements are ignored",
                           [Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
}
// If count_pads, the mean counts the padding as elements of the window.
def AveragePoolOp : Graph_Pool<"average_pool", "mean of each window"> {
  let elements = [kFloat];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$count_pads);
}
// An index is an offset into all elements of x. The spatial dims of one image and channel form a
// plane. Within a plane, the last spatial dim varies fastest, or the first one if by_column.
def MaxPoolIndicesOp : Graph_Pool<"max_pool_indices",
                                  "maximum of each window, and its i64 index in x; NaN "
                                  "elements are ignored"> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "false">:$by_column);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let parallel_axes = "{}";  // an index counts the elements of the images before
}
// x is [n, c, h, w], and boxes is [k, 4] with columns x1, y1, x2, y2. images is i64[k], the index
// in n of the image of each box. A coordinate is multiplied by scale, and offset is subtracted.
// Sides shorter than min_size are then enlarged to it. A grid cell is the mean of samples x samples
// points, or the maximum if `greatest`. If samples is 0, their number depends on the size of the
// cell.
def RoiAlignOp : Graph_Op<"roi_align", "regions of x given by boxes, each resampled to a grid"> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$boxes, Graph_Tensor:$images, I64Attr:$height,
                       I64Attr:$width, I64Attr:$samples, F32Attr:$scale, F32Attr:$offset,
                       F32Attr:$min_size, DefaultValuedAttr<BoolAttr, "false">:$greatest);
  let elements = [kFloat, kFloat, kInteger];
  let parallel_axes = "{ParallelAxis{{ParallelAxis::kWhole, 0, 0}, {0}}}";
}

#endif

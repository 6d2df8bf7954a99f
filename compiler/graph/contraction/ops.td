// Matrix ops.
#ifndef SCOPEVM_GRAPH_CONTRACTION_OPS
#define SCOPEVM_GRAPH_CONTRACTION_OPS

include "compiler/graph/op_classes.td"

def MatMulOp : Graph_Op<"matmul",
                        "matrix product; leading dims broadcast, rank 1 as in NumPy; i32 for i8 and u8",
                        [Graph_ContractionOp]> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
  let elements = [kNumber];
  let parallel_axes = "";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let declarations = "DimExpr getFlops(); OutputAxes getOutputAxes();";
}

// q is [columns, bytes]: row n has the integers of column n, from the lowest bits of the first byte
// on; those after `depth` are not read. scales is [columns, ceil(depth / block)]. zeros has the same
// shape, or rank 0.
def MatMulBlocksOp : Graph_Op<"matmul_blocks",
                              "a times the transpose of (q - zeros) * scales; q has integers of `bits` bits, each `block` of them has a scale",
                              [Graph_ContractionOp]> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$q, Graph_Tensor:$scales, Graph_Tensor:$zeros,
                       I64Attr:$depth, I64Attr:$bits, I64Attr:$block);
  let parallel_axes = "";
  let declarations = "DimExpr getFlops(); OutputAxes getOutputAxes();";
}
def DetOp : Graph_Op<"det", "determinant of the matrices in the last two dims"> {
  let arguments = (ins Graph_Tensor:$x);
  let parallel_axes = "leading_axes(*this, tensor_type(getX()).getRank() - 2)";
  let elements = [kFloat];
}

#endif

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
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let declarations = "DimExpr getFlops(); OutputAxes getOutputAxes();";
}
def DetOp : Graph_Op<"det", "determinant of the matrices in the last two dims"> {
  let arguments = (ins Graph_Tensor:$x);
  let elements = [kFloat];
}

#endif

// Reductions, ops along one axis, and layer normalisation. Axes are in [0, rank), ascending.
#ifndef SCOPEVM_GRAPH_REDUCTION_OPS
#define SCOPEVM_GRAPH_REDUCTION_OPS

include "compiler/graph/op_classes.td"

class Graph_Reduce<string mnemonic, string summary, string combine, string is_mean = "false">
    : Graph_Op<mnemonic, summary,
               [Graph_ReductionOp, DeclareOpInterfaceMethods<Graph_SymbolicOp>]> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "true">:$keep_dims);
  let rule = "infer_reduce(rule, op.getX(), op.getAxes(), op.getKeepDims())";
  let checks = kNoChecks;
  let parallel_axes = "reduced_axes(*this, getAxes(), getKeepDims())";
  let declarations = [{
    Combine getCombine() { return Combine::}] # combine # [{; }
    bool isMean() { return }] # is_mean # [{; }
  }];
  let definitions = [{
    ::std::optional<::std::vector<DimExpr>> $cppClass::evaluateSymbolic(SymbolicValues &values) {
      return values.evaluate_reduction(*this);
    }
  }];
}
def ReduceSumOp : Graph_Reduce<"reduce_sum", "sum over axes", "kSum">;
def ReduceMeanOp : Graph_Reduce<"reduce_mean", "mean over axes", "kSum", "true"> {
  let elements = [kNumber];
}
def ReduceProdOp : Graph_Reduce<"reduce_prod", "product over axes", "kProduct">;
def ReduceMaxOp : Graph_Reduce<"reduce_max", "maximum over axes", "kMax">;
def ReduceMinOp : Graph_Reduce<"reduce_min", "minimum over axes", "kMin">;

class Graph_ArgReduce<string mnemonic, string summary> : Graph_Op<mnemonic, summary> {
  let elements = [kNumber];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keep_dims,
                       DefaultValuedAttr<BoolAttr, "false">:$last);
  let rule = "infer_arg_reduce(rule, op.getX(), op.getAxis(), op.getKeepDims())";
  let checks = kNoChecks;
  let parallel_axes = "reduced_axes(*this, static_cast<int64_t>(getAxis()), getKeepDims())";
}
def ArgMaxOp : Graph_ArgReduce<"arg_max", "i64 index of the maximum along axis; of equal elements the first, or the last if `last`">;
def ArgMinOp : Graph_ArgReduce<"arg_min", "i64 index of the minimum along axis; of equal elements the first, or the last if `last`">;

class Graph_AlongAxis<string mnemonic, string summary, list<Trait> traits = []>
    : Graph_Op<mnemonic, summary, traits> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis);
  let rule = "infer_along_axis(rule, op.getX(), op.getAxis())";
  let checks = kNoChecks;
  let parallel_axes = kAllButAxis;
}
def SoftmaxOp : Graph_AlongAxis<"softmax", "e^x / sum e^x along axis", [Graph_RowOp]> {
  let elements = [kFloat];
}
def LogSoftmaxOp : Graph_AlongAxis<"log_softmax", "logarithm of softmax along axis",
                                   [Graph_RowOp]> {
  let elements = [kFloat];
}
// If exclusive, the result at an element excludes the element. If reverse, results start at the end.
class Graph_Cumulative<string mnemonic, string summary> : Graph_AlongAxis<mnemonic, summary> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let elements = [kNumber];
}
def CumSumOp : Graph_Cumulative<"cum_sum", "cumulative sum along axis">;
def CumProdOp : Graph_Cumulative<"cum_prod", "cumulative product along axis">;
// Normalises over dims axis .. rank-1; scale and bias have those dims (or broadcast to them).
def LayerNormOp : Graph_Op<"layer_norm", "(x - mean) / sqrt(var + epsilon) * scale + bias",
                           [Graph_RowOp]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$scale, Optional<Graph_Tensor>:$bias,
                       I64Attr:$axis, F32Attr:$epsilon);
  let elements = [kFloat];
  let rule = "infer_layer_norm(rule, op)";
  let parallel_axes = "broadcast_axes(*this, static_cast<int64_t>(getAxis()))";
  let hasCanonicalizer = 1;
}

#endif

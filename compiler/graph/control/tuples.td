// Ops on tuples, values of MLIR's type tuple<...>. They exist only in MLIR assembly: the frontend
// replaces every tuple by its elements, so the list of ops that passes handle (graph_ops.td) does
// not contain them.
#ifndef SCOPEVM_GRAPH_CONTROL_TUPLES
#define SCOPEVM_GRAPH_CONTROL_TUPLES

include "compiler/graph/control/values.td"

def TupleOp : Op<Graph_Dialect, "tuple", [Pure,
                 TypesMatchWith<"the result has the types of the operands", "result", "elements",
                                "::llvm::cast<::mlir::TupleType>($_self).getTypes()">]> {
  let summary = "a tuple of the operands";
  let arguments = (ins Variadic<Graph_Value>:$elements);
  let results = (outs Graph_Tuple:$result);
  let assemblyFormat = "$elements attr-dict `:` type($result)";
}

def TupleGetOp : Op<Graph_Dialect, "tuple_get", [Pure,
                    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "element `index` of a tuple";
  let arguments = (ins Graph_Tuple:$tuple, I64Attr:$index);
  let results = (outs Graph_Value:$element);
  let assemblyFormat = "$tuple `[` $index `]` attr-dict `:` type($tuple)";
}

#endif

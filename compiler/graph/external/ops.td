// External functions: parts of a model that a library computes (scopevm/c/external.h).
#ifndef SCOPEVM_GRAPH_EXTERNAL_OPS
#define SCOPEVM_GRAPH_EXTERNAL_OPS

include "compiler/graph/op_classes.td"
include "mlir/IR/SymbolInterfaces.td"

// Ops that an external library may compute. The body has the form of an sv.group body. `patterns`
// lists the library's patterns that formed the partition. Outlining replaces every partition.
def PartitionOp : Graph_IsolatedBodyOp<"partition"> {
  let summary = "ops that an external library may compute";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$library, StrArrayAttr:$patterns);
}

// Declares an external function. The names in the dims of `type` are local to the function. A type
// with a place, such as `!sv.tensor<f32[n], @cpu.global.fast>`, requires this memory scope of the
// parameter or result. `op_name` is the name that the library receives, default the symbol.
// `op_attributes` are the attributes of the op in the function's description. `description` is the
// description, default one op with these attributes. `workspace` is the number of bytes of scratch
// memory, a formula over the names in `type` and `$threads`.
//
// `op_results` are the types of the results of an ONNX node that calls the function, if the function
// determines some of their dims. Such a dim is a name that starts with `$`, and the dim of the
// function's result is its maximum. The function has one result more, an i64 vector: the dims with
// these names, in the order in which they first appear.
def ExternOp : Op<Graph_Dialect, "extern", [Symbol]> {
  let summary = "declares a function that a library computes";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$type, StrAttr:$library,
                       OptionalAttr<StrAttr>:$op_name,
                       OptionalAttr<DictionaryAttr>:$op_attributes,
                       OptionalAttr<TypeArrayAttr>:$op_results,
                       OptionalAttr<StrAttr>:$description,
                       DefaultValuedStrAttr<StrAttr, "0">:$workspace);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::FunctionType getSignature() {
      return mlir::cast<mlir::FunctionType>(getTypeAttr().getValue());
    }
    // The names in `op_results` that start with `$`, in the order in which they first appear.
    llvm::SmallVector<std::string> getResultDimNames();
  }];
}

// The callee is an sv.extern, or a function with a body before the compiler has decided whether a
// library computes it. The result dims are given in the caller's names. They must agree with the
// callee's type.
def CallExternOp : Op<Graph_Dialect, "call_extern", [Pure, Graph_HostOp,
                      DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let extraClassDeclaration = HostReason<"external functions run on the CPU">.member;
  let summary = "calls an external function";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Graph_Tensor>:$arguments);
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, results)";
}

#endif

// The graph dialect `sv`: its types and attributes. Ops are in graph_ops.td.
#ifndef SCOPEVM_GRAPH_DIALECT
#define SCOPEVM_GRAPH_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Graph_Dialect : Dialect {
  let name = "sv";
  let cppNamespace = "::scopevm::graph";
  let summary = "named operations on tensors with symbolic shapes and places";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let usePropertiesForAttributes = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class Graph_Type<string cpp, string mnemonic_> : TypeDef<Graph_Dialect, cpp> {
  let mnemonic = mnemonic_;
}
class Graph_Attr<string cpp, string mnemonic_> : AttrDef<Graph_Dialect, cpp> {
  let mnemonic = mnemonic_;
}

// A tensor: element type, symbolic shape, place. The place is an interned "device.scope" string:
// null before placement, "cpu" when no scope is asked for, "cpu.global.workspace" when one is.
//   !sv.tensor<f32[n, 3, 2*w+1]>   !sv.tensor<i64[]>   !sv.tensor<f32[n], @cpu.global>
def Graph_Tensor : Graph_Type<"Tensor", "tensor"> {
  let parameters = (ins
    "::scopevm::DType":$dtype,
    ArrayRefParameter<"::scopevm::DimExpr">:$shape,
    "::mlir::StringAttr":$place);
  let builders = [
    TypeBuilder<(ins "::scopevm::DType":$dtype, "::llvm::ArrayRef<::scopevm::DimExpr>":$shape), [{
      return $_get($_ctxt, dtype, shape, ::mlir::StringAttr());
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    ::scopevm::DimExpr getDim(int64_t axis) const { return getShape()[axis]; }
    ::scopevm::DimExpr getElementCount() const { return ::scopevm::element_count(getShape()); }
    // True when every dim is a constant.
    bool isStatic() const;
    TensorType withShape(::llvm::ArrayRef<::scopevm::DimExpr> shape) const;
    TensorType withDType(::scopevm::DType dtype) const;
  }];
}

// The element type of constants that hold texts: dense<["a", "b"]> : tensor<2x!sv.str>.
def Graph_Text : Graph_Type<"Text", "str">;

// A list of dimension expressions: #sv.dims<[n, 12, 64]>.
def Graph_Dims : Graph_Attr<"Dims", "dims"> {
  let parameters = (ins ArrayRefParameter<"::scopevm::DimExpr">:$value);
  let hasCustomAssemblyFormat = 1;
}

#endif

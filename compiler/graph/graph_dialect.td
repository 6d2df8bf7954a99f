// The graph dialect `sv`: types and attributes. Ops are in graph_ops.td.
#ifndef SCOPEVM_GRAPH_DIALECT
#define SCOPEVM_GRAPH_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Graph_Dialect : Dialect {
  let name = "sv";
  let cppNamespace = "::scopevm::compiler::graph";
  let summary = "named operations on tensors with symbolic shapes and places";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let usePropertiesForAttributes = 1;
  let hasConstantMaterializer = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

class Graph_Type<string cpp, string mnemonic_> : TypeDef<Graph_Dialect, cpp> {
  let mnemonic = mnemonic_;
  let summary = mnemonic_;  // the type in messages of generated verifiers
}
class Graph_Attr<string cpp, string mnemonic_> : AttrDef<Graph_Dialect, cpp> {
  let mnemonic = mnemonic_;
}

// A place in a tensor type: a device and the required memory scope, or no scope. Before placement,
// it is a constraint, whose device can be a class of devices ("kind:opencl") or missing.
def Graph_Place : Graph_Attr<"Place", "place"> {
  let parameters = (ins StringRefParameter<>:$device, StringRefParameter<>:$scope);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$text), [{
    const auto [device, scope] = split(text);
    return $_get($_ctxt, device, scope);
  }]>];
  let extraClassDeclaration = [{
    // The device and the scope of "cpu", "cpu.global.workspace", "kind:opencl.global" or ".local".
    static std::pair<::llvm::StringRef, ::llvm::StringRef> split(::llvm::StringRef text);
    std::string str() const;
  }];
  let assemblyFormat = "`<` $device `,` $scope `>`";
}

// A tensor: element type, symbolic shape, place. The place is null before placement.
//   !sv.tensor<f32[n, 3, 2*w+1]>   !sv.tensor<i64[]>   !sv.tensor<f32[n], @cpu.global>
def Graph_Tensor : Graph_Type<"Tensor", "tensor"> {
  let parameters = (ins
    "::scopevm::DType":$dtype,
    ArrayRefParameter<"::scopevm::compiler::DimExpr">:$shape,
    "::scopevm::compiler::graph::PlaceAttr":$place);
  let builders = [
    TypeBuilder<(ins "::scopevm::DType":$dtype, "::llvm::ArrayRef<::scopevm::compiler::DimExpr>":$shape), [{
      return $_get($_ctxt, dtype, shape, PlaceAttr());
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    ::scopevm::compiler::DimExpr getDim(int64_t axis) const { return getShape()[axis]; }
    ::scopevm::compiler::DimExpr getElementCount() const { return ::scopevm::compiler::element_count(getShape()); }
    // The bytes of a tensor; its elements can share bytes.
    ::scopevm::compiler::DimExpr getBytes() const { return ::scopevm::compiler::byte_size(getDtype(), getElementCount()); }
    // True when every dim is a constant.
    bool isStatic() const;
    TensorType withShape(::llvm::ArrayRef<::scopevm::compiler::DimExpr> shape) const;
    TensorType withDType(::scopevm::DType dtype) const;
    TensorType withPlace(PlaceAttr place) const;
  }];
}

// The element type of string constants: dense<["a", "b"]> : tensor<2x!sv.str>.
def Graph_String : Graph_Type<"String", "str">;

// A function with its first parameters bound. Symbol names are local to the signature.
//   !sv.closure<(!sv.tensor<f32[n]>) -> !sv.tensor<f32[n]>>
def Graph_Closure : Graph_Type<"Closure", "closure"> {
  let parameters = (ins "::mlir::FunctionType":$signature);
  let assemblyFormat = "`<` $signature `>`";
}

// A list of tensors, or an optional tensor or list. All elements have one element type. A dim is
// a number if it is known and equal in all elements, else kAnyDim.
//   !sv.list<sequence f32[?, 4]>
//   !sv.list<optional sequence i64[...]>   elements of any rank
//   !sv.list<sequence f32>                 no elements
def Graph_List : Graph_Type<"List", "list"> {
  let parameters = (ins
    "::scopevm::ValueKind":$kind,
    "::scopevm::DType":$dtype,
    "::scopevm::compiler::graph::ElementDims":$elements,
    ArrayRefParameter<"::scopevm::compiler::DimExpr">:$shape);
  let builders = [
    TypeBuilder<(ins "::scopevm::ValueKind":$kind, "::scopevm::DType":$dtype), [{
      return $_get($_ctxt, kind, dtype, ::scopevm::compiler::graph::ElementDims::kNone,
                   ::llvm::ArrayRef<::scopevm::compiler::DimExpr>());
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ListType withKind(::scopevm::ValueKind kind) const;
    // The list type of kind `kind` for elements of type `element`: a tensor, or a list for an
    // optional sequence. Dims of the tensor that are not constant become kAnyDim.
    static ListType of(::mlir::Type element, ::scopevm::ValueKind kind);
    // The type of the sequence that an optional sequence contains.
    ListType getSequence() const { return withKind(::scopevm::ValueKind::kSequence); }
    bool hasListElements() const { return getKind() == ::scopevm::ValueKind::kOptionalSequence; }
    // The common supertype; null if the kinds or element types differ.
    ListType join(ListType other) const;
    // True if this type is a subtype of `other`.
    bool fits(ListType other) const { return join(other) == other; }
  }];
}

// A list of dimension expressions: #sv.dims<[n, 12, 64]>.
def Graph_Dims : Graph_Attr<"Dims", "dims"> {
  let parameters = (ins ArrayRefParameter<"::scopevm::compiler::DimExpr">:$value);
  let hasCustomAssemblyFormat = 1;
}

#endif

// Base classes of ops with tensor operands and results. An op definition gives its mnemonic,
// summary and operands. The fields of its base class give the properties that a family shares.
#ifndef SCOPEVM_GRAPH_OP_CLASSES
#define SCOPEVM_GRAPH_OP_CLASSES

include "compiler/graph/graph_dialect.td"
include "compiler/graph/op_interfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An attribute that is a string in the textual form (`mode = "reflect"`) and an enum in C++.
class Graph_Enum<string name, string description, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, description, cases> {
  let cppNamespace = "::scopevm::compiler::graph";
  let genSpecializedAttr = 0;
}
class Graph_EnumAttr<Graph_Enum enum>
    : Attr<And<[CPred<"::llvm::isa<::mlir::StringAttr>($_self)">,
                CPred<"::scopevm::compiler::graph::" # enum.stringToSymbolFnName #
                      "(::llvm::cast<::mlir::StringAttr>($_self).getValue()).has_value()">]>,
           enum.summary # ": " # !interleave(!foreach(c, enum.enumerants, c.str), ", ")> {
  let storageType = "::mlir::StringAttr";
  let returnType = enum.cppNamespace # "::" # enum.className;
  // Type inference runs before the verifier, so an invalid string must map to some case.
  let convertFromStorage = "::scopevm::compiler::graph::" # enum.stringToSymbolFnName #
                           "($_self.getValue()).value_or(" # enum.cppNamespace # "::" #
                           enum.className # "::" # !head(enum.enumerants).symbol # ")";
  let constBuilderCall = "$_builder.getStringAttr(::scopevm::compiler::graph::" #
                         enum.symbolToStringFnName # "($0))";
}

// Sets of element types that an operand accepts; see type_rule.h.
defvar kAny = "ElementTypes::kAny";
defvar kNumeric = "ElementTypes::kNumeric";
defvar kNumber = "ElementTypes::kNumber";
defvar kFloat = "ElementTypes::kFloat";
defvar kInteger = "ElementTypes::kInteger";
defvar kU64 = "ElementTypes::kU64";
defvar kBool = "ElementTypes::kBool";
defvar kString = "ElementTypes::kString";
defvar kSmall = "ElementTypes::kSmall";
defvar kStored = "ElementTypes::kStored";

class Graph_Op<string mnemonic, string summary_, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic,
         !listconcat(traits, [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>,
                              DeclareOpInterfaceMethods<Graph_RequestCheckOp>,
                              DeclareOpInterfaceMethods<Graph_ParallelAxesOp>, Graph_CostOp])> {
  let summary = summary_;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let results = (outs Graph_Tensor:$result);

  // The element types of each operand. The last entry also applies to all further operands.
  list<string> elements = [kNumeric];
  // The type rule, as an expression over `rule` (a TypeRule) and `op` (an Adaptor). If empty, the
  // op's family defines `infer`.
  string rule = "";
  // Request checks, as a statement over `checks` (RequestChecks). If empty, the op's family defines
  // `addRequestChecks`.
  string checks = "";
  // The parallel axes, as an expression (compiler/graph/parallel/parallel_axes.h); the default is
  // none. If empty, the op's family defines `getParallelAxes`.
  string parallel_axes = "{}";
  // Additional members of the op's class.
  string declarations = "";
  string definitions = "";

  let extraClassDeclaration = [{
    // The type rule: operand types and attributes -> result types.
    static ::llvm::LogicalResult infer(::scopevm::compiler::graph::TypeRule &rule, Adaptor op);
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }] # declarations;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      TypeRule rule{context, location, "}] # mnemonic # [{", types};
      if (failed(rule.check_elements(operands, {}] # !interleave(elements, ", ") # [{})))
        return ::mlir::failure();
      return infer(rule, Adaptor(operands, attributes, properties, regions));
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return equal_but_for_place(inferred, actual);
    }
  }]
  # !if(!empty(rule), "", "::llvm::LogicalResult $cppClass::infer(TypeRule &rule, Adaptor op) { return " # rule # "; }\n")
  # !if(!empty(checks), "", "void $cppClass::addRequestChecks(RequestChecks &checks) { " # checks # "; }\n")
  # !if(!empty(parallel_axes), "", "ParallelAxes $cppClass::getParallelAxes() { return " # parallel_axes # "; }\n")
  # definitions;
}

// Ops in a body that is isolated from above (compiler/graph/control/isolated_body.h).
class Graph_IsolatedBodyOp<string mnemonic>
    : Op<Graph_Dialect, mnemonic, [IsolatedFromAbove, Pure, Graph_HasIsolatedBody,
                                   SingleBlockImplicitTerminator<"YieldOp">]> {
  let results = (outs Variadic<Graph_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &result) {
      return parse_isolated_body(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { print_isolated_body(printer, *this); }
    ::llvm::LogicalResult $cppClass::verify() { return verify_isolated_body(*this); }
  }];
}

// The member that a Graph_HostOp requires.
class HostReason<string reason> {
  string member = "::llvm::StringRef getHostReason() { return \"" # reason # "\"; }\n";
}

// The value of `parallel_axes` for an op along the axis `axis`.
defvar kAllButAxis = "equal_axes(*this, static_cast<int64_t>(getAxis()))";

// The value of `checks` for an op whose type rule decides all conditions.
defvar kNoChecks = "static_cast<void>(checks)";

#endif

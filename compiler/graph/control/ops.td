// Structure: groups, control flow, calls, lists.
#ifndef SCOPEVM_GRAPH_CONTROL_OPS
#define SCOPEVM_GRAPH_CONTROL_OPS

include "compiler/graph/control/values.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

// The types along a control-flow edge may differ in dims for which the op defines symbols. The op's
// own verifier therefore compares them.
defvar Graph_RegionBranch = DeclareOpInterfaceMethods<
    RegionBranchOpInterface, ["getEntrySuccessorOperands", "areTypesCompatible"]>;
defvar Graph_CallInterface = DeclareOpInterfaceMethods<CallOpInterface>;
defvar Graph_Merge = DeclareOpInterfaceMethods<Graph_MergeOp>;

// The ops of one kernel. The body can only use its block arguments, one per operand, and contains
// graph ops. If the group has a contraction, that is the first op except for constants. The other
// ops are its epilogue, or a softmax and a second contraction (attention).
def GroupOp : Graph_IsolatedBodyOp<"group"> {
  let summary = "ops fused into one kernel";
  let arguments = (ins Variadic<Graph_Tensor>:$inputs);
}

def YieldOp : Op<Graph_Dialect, "yield", [Pure, Terminator,
                 DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>,
                 ParentOneOf<["GroupOp", "IfOp", "LoopOp", "PartitionOp"]>]> {
  let summary = "results of a region";
  let arguments = (ins Variadic<Graph_Value>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

// --- Control flow. Regions can use values of the enclosing blocks. ------------------------------
//
// A symbol whose name starts with `$` is defined by the op that lists it, when that op runs. These
// symbols are at least 0.

// Defines symbols[i] from element i of x: integers or bools, rank 0 or 1. A negative element fails
// the call unless is_signed. If is_signed, an element e defines two symbols. symbols[i] is
// max(e, 0), and symbols[i] with the suffix `.neg` is max(-e, 0).
def ReadDimsOp : Op<Graph_Dialect, "read_dims", [MemoryEffects<[MemWrite]>, Graph_HostOp]> {
  let extraClassDeclaration = HostReason<"sizes are read on the host">.member;
  let summary = "defines symbols with the values of the elements of x";
  let arguments = (ins Graph_Tensor:$x, StrArrayAttr:$symbols,
                       DefaultValuedAttr<BoolAttr, "false">:$is_signed);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def Graph_RequireKind : Graph_Enum<"RequireKind", "comparison of two dims", [
  I32EnumAttrCase<"kEqual", 0, "equal">, I32EnumAttrCase<"kAtLeast", 1, "at_least">]>;

// Checks a condition on the two entries a and b of `dims`: a == b, or a >= b for at_least. In
// `message`, {0} and {1} are replaced by the values of a and b.
def RequireOp : Op<Graph_Dialect, "require",
                   [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<Graph_RequestCheckOp>]> {
  let summary = "fails the call unless a condition on dims is true";
  let arguments = (ins Graph_Dims:$dims, Graph_EnumAttr<Graph_RequireKind>:$kind, StrAttr:$message);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

// Fails the call with `message` if the condition, a bool tensor of one element, is false.
def AssertOp : Op<Graph_Dialect, "assert", [MemoryEffects<[MemWrite]>, Graph_HostOp]> {
  let extraClassDeclaration = HostReason<"conditions are read on the host">.member;
  let summary = "fails the call unless the condition is true";
  let arguments = (ins Graph_Tensor:$condition, StrAttr:$message);
  let assemblyFormat = "operands attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

// `condition` is a bool tensor of one element. `symbols` lists the result dims that only the
// executed branch determines.
def IfOp : Op<Graph_Dialect, "if", [RecursiveMemoryEffects, Graph_RegionBranch, Graph_Merge,
              Graph_ProvidesStorage, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "executes one of two regions";
  let arguments = (ins Graph_Tensor:$condition,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$outputs);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $then `else` $otherwise";
  let hasVerifier = 1;
}

// Runs the body at most trip_count times, or without a limit if trip_count is empty. `index` is the
// symbol of the iteration number, which starts at 0. The block arguments are the carried values.
// The body yields the next carried values, then one part of each gathered output. If has_condition,
// it first yields a bool of one element: whether to continue. The results are the final carried
// values, then the gathered outputs with a new first dim. That dim is trip_count, or a symbol of
// `symbols` if has_condition or if trip_count is empty. `carried_symbols` lists the dims of block
// arguments that change between iterations, and `symbols` the result dims that only the execution
// determines.
def LoopOp : Op<Graph_Dialect, "loop", [RecursiveMemoryEffects, Graph_RegionBranch,
                DeclareOpInterfaceMethods<Graph_MergeOp, ["isDynamicallySized", "getAssumedTrips"]>,
                Graph_ProvidesStorage, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "executes its region repeatedly";
  let arguments = (ins Variadic<Graph_Value>:$initial, Graph_Dims:$trip_count, StrAttr:$index,
                       DefaultValuedAttr<BoolAttr, "false">:$has_condition,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$carried_symbols,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results) $body";
  let hasVerifier = 1;
}

//
// --- Calls. -------------------------------------------------------------------------------------
//
// Names in the dims of the callee's parameters are bound to the arguments' dims. `symbols` has one
// name, in order of appearance, for each distinct result dim that the arguments do not determine.
def CallOp : Op<Graph_Dialect, "call", [MemoryEffects<[MemWrite]>, Graph_CallInterface, Graph_ProvidesStorage,
                Graph_FunctionUserOp, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Graph_Value>:$arguments,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$outputs);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, results)";
}

// The result has the callee's signature without the parameters that `captured` binds.
def ClosureOp : Op<Graph_Dialect, "closure", [Pure, Graph_FunctionUserOp,
                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a function with its first parameters bound";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Graph_Captured>:$captured);
  let results = (outs Graph_Closure:$result);
  let assemblyFormat = "$callee `(` $captured `)` attr-dict `:` functional-type($captured, results)";
}

def CallClosureOp : Op<Graph_Dialect, "call_closure",
                       [MemoryEffects<[MemWrite]>, Graph_CallInterface, Graph_ProvidesStorage,
                        Graph_HostOp]> {
  let extraClassDeclaration = HostReason<"lists and closures are stored on the host">.member;
  let summary = "calls a closure";
  let arguments = (ins Graph_Closure:$closure, Variadic<Graph_Value>:$arguments,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$outputs);
  let assemblyFormat = "$closure `(` $arguments `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//
// --- Lists. -------------------------------------------------------------------------------------
//
// Negative indices count from the end. An index out of range fails the call. Lists are immutable:
// an op that changes a list returns a new one.
class Graph_ListOp<string mnemonic, string summary_, list<Trait> traits>
    : Op<Graph_Dialect, mnemonic, !listconcat(traits, [Graph_HostOp])> {
  let summary = summary_;
  let extraClassDeclaration = HostReason<"lists and closures are stored on the host">.member;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ListOp : Graph_ListOp<"list", "a list of the operands", [Pure]> {
  let arguments = (ins Variadic<Graph_ListElement>:$elements);
  let results = (outs Graph_List:$result);
}

// `symbols` has the names of the result dims that the list's type does not specify.
def ListGetOp : Graph_ListOp<"list_get", "an element of a list",
                             [MemoryEffects<[MemWrite]>, Graph_ProvidesStorage]> {
  let arguments = (ins Graph_List:$list, Graph_Dims:$index,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$symbols);
  let results = (outs Graph_ListElement:$result);
}

// `index` has at most one entry. Without an entry, the element is appended.
def ListInsertOp : Graph_ListOp<"list_insert", "a list with an element inserted before index",
                                [MemoryEffects<[MemWrite]>]> {
  let arguments = (ins Graph_List:$list, Graph_ListElement:$element, Graph_Dims:$index);
  let results = (outs Graph_List:$result);
}

def ListEraseOp : Graph_ListOp<"list_erase", "a list without element index",
                               [MemoryEffects<[MemWrite]>]> {
  let arguments = (ins Graph_List:$list, Graph_Dims:$index);
  let results = (outs Graph_List:$result);
}

def ListSizeOp : Graph_ListOp<"list_size", "defines a symbol with the number of elements of a list",
                              [MemoryEffects<[MemWrite]>]> {
  let arguments = (ins Graph_List:$list, StrAttr:$symbol);
}

#endif

// Interfaces and traits of graph ops. Passes query these instead of keeping lists of ops.
//
// Interface methods without a default are defined with the op's family (compiler/graph/FAMILY). The
// exception is LoweringOp: the kernels library attaches its methods as external models
// (compiler/kernels/op_lowerings.h).
#ifndef SCOPEVM_GRAPH_OP_INTERFACES
#define SCOPEVM_GRAPH_OP_INTERFACES

include "mlir/IR/OpBase.td"

class Graph_Interface<string name> : OpInterface<name> {
  let cppNamespace = "::scopevm::compiler::graph";
}

def Graph_ElementwiseOp : Graph_Interface<"ElementwiseOp"> {
  let description = [{
    Every result element is a function of the operands' elements at the same position, after
    broadcasting. That function is defined once, by `evaluate`; kernels, constant folding and
    symbolic evaluation call it with an Arithmetic of their own.
  }];
  let methods = [
    InterfaceMethod<[{
      The result element for the operands' elements `x`, one scalar for each operand. All scalars
      belong to one Arithmetic, which the result belongs to as well.
    }], "::scopevm::compiler::graph::Scalar", "evaluate",
      (ins "::llvm::ArrayRef<::scopevm::compiler::graph::Scalar>":$x)>,
    InterfaceMethod<"The cost of one element, in simple operations such as an addition.",
      "int64_t", "getOperationsPerElement">,
  ];
}

def Graph_ReductionOp : Graph_Interface<"ReductionOp"> {
  let description = "Combines the elements of `x` along `axes` by an associative operator.";
  let methods = [
    InterfaceMethod<"The operator.", "::scopevm::compiler::graph::Combine", "getCombine">,
    InterfaceMethod<"The result is divided by the number of elements combined.", "bool", "isMean">,
    InterfaceMethod<"The axes of `x` that are reduced, ascending.", "::llvm::ArrayRef<int64_t>",
      "getAxes">,
    InterfaceMethod<"Reduced axes stay in the result, with size 1.", "bool", "getKeepDims">,
  ];
}

def Graph_RowOp : Graph_Interface<"RowOp"> {
  let description = [{
    Normalises rows: each result element depends on all elements of `x` along the dims from the row
    axis on (layer_norm) or along the row axis alone (softmax).
  }];
  let methods = [
    InterfaceMethod<"The axis.", "int64_t", "getRowAxis", (ins), [{}], [{
      return static_cast<int64_t>($_op.getAxis());
    }]>,
  ];
}

def Graph_WindowOp : Graph_Interface<"WindowOp"> {
  let description = [{
    Moves a window over the spatial axes of `x: [n, c, spatial...]`. The arrays have one entry for
    each spatial axis. `pads` lists the padding before each axis, then the padding after each axis.
  }];
  let methods = [
    InterfaceMethod<"Steps of the window, in elements.", "::llvm::ArrayRef<int64_t>", "getStrides">,
    InterfaceMethod<"Elements added around x.", "::llvm::ArrayRef<int64_t>", "getPads">,
    InterfaceMethod<"Distances between the elements of a window.", "::llvm::ArrayRef<int64_t>",
      "getDilations">,
    InterfaceMethod<"Elements of a window along each spatial axis.",
      "::llvm::SmallVector<::scopevm::compiler::DimExpr>", "getWindowDims">,
  ];
}

def Graph_RequestCheckOp : Graph_Interface<"RequestCheckOp"> {
  let description = [{
    Conditions on dims that the type rule could not decide. Each request is checked for them before
    the op runs.
  }];
  let methods = [
    InterfaceMethod<"Adds the op's conditions to `checks`.", "void", "addRequestChecks",
      (ins "::scopevm::compiler::graph::RequestChecks &":$checks)>,
  ];
}

def Graph_SymbolicOp : Graph_Interface<"SymbolicOp"> {
  let description = "Can be evaluated over dimension expressions, to track shapes in tensors.";
  let methods = [
    InterfaceMethod<[{
      The elements of the only result, row-major. Empty if they are unknown, for example because
      those of an operand are. REQUIRES: the result is an i64, i32 or bool tensor of static shape.
    }], "::std::optional<::std::vector<::scopevm::compiler::DimExpr>>", "evaluateSymbolic",
      (ins "::scopevm::compiler::graph::SymbolicValues &":$values)>,
  ];
}

def Graph_CostOp : Graph_Interface<"CostOp"> {
  let description = "What one execution costs, as formulas over the op's dims.";
  let methods = [
    InterfaceMethod<"Arithmetic operations; 0 if no interface of the op defines a number.",
      "::scopevm::compiler::DimExpr", "getFlops", (ins), [{}], [{
      return ::scopevm::compiler::graph::flops_of($_op);
    }]>,
    InterfaceMethod<"Bytes of all operands and results.", "::scopevm::compiler::DimExpr",
      "getBytes", (ins), [{}], [{ return ::scopevm::compiler::graph::bytes_of($_op); }]>,
  ];
}

def Graph_LoweringOp : Graph_Interface<"LoweringOp"> {
  let description = "Becomes steps of a Program and the kernels that they launch.";
  let methods = [
    InterfaceMethod<"Appends the op's steps to `context`. Fails with a diagnostic on the op.",
      "::llvm::LogicalResult", "lower",
      (ins "::scopevm::compiler::kernels::LoweringContext &":$context)>,
    InterfaceMethod<[{
      Further ops that the kernel of this contraction and its epilogue can compute, and computes
      faster than kernels of their own, in program order. `last` is the result of the epilogue.
    }], "::llvm::SmallVector<::mlir::Operation*>", "getFusibleTail",
      (ins "::mlir::Value":$last, "::scopevm::compiler::graph::WithEpilogue":$with_epilogue)>,
  ];
}

def Graph_ContractionOp : Graph_Interface<"ContractionOp"> {
  let description = [{
    Computes sums of products of two operands. A fusion group with contractions starts with one,
    except for constants.
  }];
  let methods = [
    InterfaceMethod<"The partition of the result's axes.",
      "::scopevm::compiler::graph::OutputAxes", "getOutputAxes">,
  ];
}

def Graph_ParallelAxesOp : Graph_Interface<"ParallelAxesOp"> {
  let description = [{
    The op computes parts of its results independently, along one axis or several: a batch, heads,
    channels. If a model is sharded, these axes are the factors that need no communication
    (OpShardingRuleAttr in OpenXLA's dialect Shardy).
  }];
  let methods = [
    InterfaceMethod<"Axes of this kind; there can be further ones.",
      "::scopevm::compiler::graph::ParallelAxes", "getParallelAxes">,
  ];
}

def Graph_MergeOp : Graph_Interface<"MergeOp"> {
  let description = [{
    A branch or a loop. Each result is a merge point: operands of the op and of the terminators of
    its regions flow to it. Argument i of a region is a carried value, and flows to result i.
  }];
  let methods = [
    InterfaceMethod<[{
      The result to which an operand of the op, or of the terminator of one of its regions, flows.
      Null for a condition, which the VM reads on the host.
    }], "::mlir::OpResult", "getMergePoint", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<[{
      Whether the result gathers a number of parts that only the execution determines. When its
      storage is full, the VM copies it to a larger one.
    }], "bool", "isDynamicallySized", (ins "::mlir::OpResult":$result), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      The assumed number of executions of a region, per execution of the op. `value_of` evaluates
      dims.
    }], "double", "getAssumedTrips",
      (ins "::llvm::function_ref<double(::scopevm::compiler::DimExpr)>":$value_of), [{}],
      [{ return 1; }]>,
  ];
}

def Graph_FunctionUserOp : Graph_Interface<"FunctionUserOp"> {
  let description = [{
    Binds its operands to the first parameters of a function: a call, or an op that makes a closure.
  }];
  let methods = [
    InterfaceMethod<"The function's symbol.", "::mlir::FlatSymbolRefAttr", "getCalleeAttr">,
    InterfaceMethod<"Replaces the function.", "void", "setCalleeAttr",
      (ins "::mlir::FlatSymbolRefAttr":$callee)>,
  ];
  let extraClassDeclaration = [{
    bool isCall() { return ::mlir::isa<::mlir::CallOpInterface>(getOperation()); }
  }];
}

def Graph_SelectingOp : Graph_Interface<"SelectingOp"> {
  let description = [{
    Each result element is an element of an operand with the result's element type, or the largest
    or smallest of several: the lowest number of the type if there are none. Which one does not
    depend on the elements otherwise. Hence op(f(x)) = f(op(x)) if f does not decrease and maps the
    lowest number to the lowest one. Operands of other element types are indices or conditions.
  }];
  let methods = [
    InterfaceMethod<"False if the op computes other elements with its attributes.", "bool",
      "selectsElements", (ins), [{}], [{ return true; }]>,
  ];
}

def Graph_HostOp : Graph_Interface<"HostOp"> {
  let description = "The VM runs the op itself, without a kernel. Placement places it on the host.";
  let methods = [
    InterfaceMethod<"The reason, for explanations of copies.", "::llvm::StringRef", "getHostReason">,
  ];
}

// The op has one region of one block. The block uses only its arguments, one for each operand, and
// yields the results (compiler/graph/control/isolated_body.h).
def Graph_HasIsolatedBody : NativeOpTrait<"HasIsolatedBody"> {
  let cppNamespace = "::scopevm::compiler::graph";
}

// The results have their own storage or share the storage of an operand. A consumer cannot choose
// where they are allocated.
def Graph_ProvidesStorage : NativeOpTrait<"ProvidesStorage"> {
  let cppNamespace = "::scopevm::compiler::graph";
}

#endif

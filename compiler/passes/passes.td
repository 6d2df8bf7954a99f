// The passes of the stages `graph` to `fusion`. The functions that they call are declared in the
// folders of the stages. passes.cpp implements the passes, and pass_stages.cpp orders them.
#ifndef SCOPEVM_COMPILER_PASSES_PASSES
#define SCOPEVM_COMPILER_PASSES_PASSES

include "mlir/Pass/PassBase.td"

def SimplifyPass : Pass<"sv-simplify", "mlir::ModuleOp"> {
  let summary = "fold constants, remove unused ops and ops without effect";
  let description = [{
    Folds constants, replaces known shape arithmetic by constants or `sv.dims_tensor`, applies the
    rewrites of compiler/graph/rewrite, and removes unused ops and functions.
  }];
}

def WidenPass : Pass<"sv-widen", "mlir::ModuleOp"> {
  let summary = "compute in f32 what a model with matrix products in f16 or bf16 computes";
  let description = [{
    If the module has matrix products or convolutions of f16 or bf16 elements, these and the
    elementwise ops, reductions, normalisations of rows and pools of such elements get f32 operands.
    Results are rounded where they are stored for other ops, and at outputs.
  }];
}

def UnrollPass : Pass<"sv-unroll", "mlir::ModuleOp"> {
  let summary = "replace recursion whose depth the arguments determine by copies of the functions";
  let description = [{
    A call of a recursive function gets a copy of the function for its constant arguments and dims,
    and so do the calls in the copy. A call stays if its depth depends on data, or if it would need
    more than 512 copies.
  }];
}

def HoistPass : Pass<"sv-hoist", "mlir::ModuleOp"> {
  let summary = "move loop-invariant ops and per-row products out of loops";
  let description = [{
    Moves loop-invariant ops out of each loop. If each iteration multiplies one row of an outer
    tensor by a matrix, one product of the whole tensor replaces these products before the loop. A
    loop is first split in two if this makes such a product possible, as for two recurrent layers.
    Simplifies the module if a loop has changed.
  }];
}

def BatchDimsPass : Pass<"sv-batch-dims", "mlir::ModuleOp"> {
  let summary = "find the dimensions whose rows a model computes independently of each other";
  let description = [{
    Sets the attribute `sv.batch_dims` of public functions: for each dimension of the inputs, the
    empty string, or what prevents it from being a batch dim.
  }];
}

def PartitionPass : Pass<"sv-partition", "mlir::ModuleOp"> {
  let summary = "move the ops that match a pattern of an external library into sv.partition";
  let options = [
    Option<"library", "library", "std::string", /*default=*/"", "name of the library">,
    Option<"patterns", "patterns", "std::string", /*default=*/"",
           "file with one function of graph ops for each pattern">
  ];
}

def MergePartitionsPass : Pass<"sv-merge-partitions", "mlir::ModuleOp"> {
  let summary = "merge partitions of one library that use each other's results";
}

def OutlinePartitionsPass : Pass<"sv-outline-partitions", "mlir::ModuleOp"> {
  let summary = "replace each sv.partition by an sv.call_extern of a new function";
  let options = [
    Option<"describe", "describe", "bool", /*default=*/"false",
           "set the attribute sv.description of the functions">
  ];
}

def InlinePartitionsPass : Pass<"sv-inline-partitions", "mlir::ModuleOp"> {
  let summary = "replace the calls of functions from sv-outline-partitions by their ops";
}

def SplitPass : Pass<"sv-split", "mlir::ModuleOp"> {
  let summary = "constrain ops to the ranks of the machine";
  let description = [{
    For a pipeline, inserts an `sv.on_device` after each op with weights, each product and each
    window. To divide tensors, replaces ops by one for each rank, on parts of the operands, and
    constrains these. The placement of the other ops follows.
  }];
  let options = [
    Option<"machine", "machine", "std::string", /*default=*/"",
           "file of the machine description; without it, one CPU">,
    Option<"pipeline", "pipeline", "int", /*default=*/"1",
           "number of consecutive parts of the model, each on ranks of its own">,
    Option<"tensor", "tensor", "int", /*default=*/"1", "number of ranks that share an op">
  ];
}

def PlacePass : Pass<"sv-place", "mlir::ModuleOp"> {
  let summary = "assign a place to every value and insert sv.device_copy";
  let description = [{
    Fails where two constraints disagree, or where the machine cannot meet one. Placing a placed
    module changes nothing.
  }];
  let options = [
    Option<"machine", "machine", "std::string", /*default=*/"",
           "file of the machine description; without it, one CPU">,
    ListOption<"rules", "place", "std::string", "placement rules, as for --place">,
    Option<"kernel_scopes_only", "kernel-scopes-only", "bool", /*default=*/"false",
           "place only a module in which an op requires a memory scope of an operand or result">
  ];
}

def SendEarlyPass : Pass<"sv-send-early", "mlir::ModuleOp"> {
  let summary = "move copies between ranks before ops of the ranks that do not receive them";
  let options = [
    Option<"machine", "machine", "std::string", /*default=*/"",
           "file of the machine description; without it, one CPU">
  ];
}

def VerifyPlacesPass : Pass<"sv-verify-places", "mlir::ModuleOp"> {
  let summary = "fail where a device cannot reach a value that its op reads or writes, or where a "
                "value in scope local is not a temporary of a kernel";
  let options = [
    Option<"machine", "machine", "std::string", /*default=*/"",
           "file of the machine description; without it, one CPU">
  ];
}

def LayoutPass : Pass<"sv-layout", "mlir::ModuleOp"> {
  let summary = "choose the layout of images: by channel, or in blocks of 16 channels";
  let description = [{
    Replaces convolutions, and ops between them, by ops on blocked images, and inserts conversions.
  }];
  let options = [
    Option<"machine", "machine", "std::string", /*default=*/"",
           "file of the machine description; without it, one CPU">
  ];
}

def FusePass : Pass<"sv-fuse", "mlir::ModuleOp"> {
  let summary = "group the ops that become one kernel";
  let description = [{
    Forms an `sv.group` of a contraction with its epilogue, of attention, or of elementwise ops with
    at most one row op or reduction among them.
  }];
}

#endif  // SCOPEVM_COMPILER_PASSES_PASSES

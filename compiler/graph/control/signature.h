// What a call of a function or closure gives: from the signature and the arguments' types.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::graph {

// Tensors of one element type and shape wherever they lie, closures whose signatures differ in
// nothing but names.
bool is_same_value(mlir::Type a, mlir::Type b);

// Reports on the call, and fails, where the arguments are not what the callee takes, or `symbols`
// does not have one name for each result dim that they leave open. The callee of an sv.call is
// looked up by its name.
llvm::LogicalResult infer_call(CallOp call, llvm::SmallVectorImpl<mlir::Type>& results);
llvm::LogicalResult infer_call(CallClosureOp call, llvm::SmallVectorImpl<mlir::Type>& results);

// What is left of the callee's signature. Reports and gives null where it does not take what is
// captured.
ClosureType infer_closure(ClosureOp op);

}  // namespace scopevm::compiler::graph

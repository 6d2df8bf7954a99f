// What a call of a function gives: from its signature and the arguments' types.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::graph {

// Reports on the call, and fails, where the arguments are not what the function takes, or `symbols`
// does not have one name for each result dim that they leave open. `callee` is how messages call
// the function.
llvm::LogicalResult infer_call(mlir::Operation* call, const llvm::Twine& callee,
                               mlir::FunctionType signature, mlir::TypeRange arguments,
                               mlir::ArrayAttr symbols, llvm::SmallVectorImpl<mlir::Type>& results);

// The same of an sv.call in a module. The callee is looked up by its name.
llvm::LogicalResult infer_call(CallOp call, llvm::SmallVectorImpl<mlir::Type>& results);

}  // namespace scopevm::graph

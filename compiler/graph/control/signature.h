// Result types of calls and closures, computed from the callee's signature and the argument types,
// and checks of the symbols that ops define.
#pragma once

#include <map>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::graph {

// True for equal types, for tensors that differ only in their places, for closures whose signatures
// differ only in symbol names, and for tuples of such elements.
bool is_same_value(mlir::Type a, mlir::Type b);

// Computes the result types of a call. The callee of an sv.call is looked up by name. Reports an
// error on the call and fails if that function does not exist or if the arguments do not match the
// callee's parameters. Also fails unless `symbols` has one name for each distinct result dim that
// the arguments do not determine.
llvm::LogicalResult infer_call(CallOp call, llvm::SmallVectorImpl<mlir::Type>& results);
llvm::LogicalResult infer_call(CallClosureOp call, llvm::SmallVectorImpl<mlir::Type>& results);

// The types that the arguments of a call must have: each name in the dims of the parameters is
// bound to the first dim that is given for it. Dims with other names, and arguments that are not
// tensors like the parameter, keep their own. REQUIRES: no tuples.
llvm::SmallVector<mlir::Type> expected_arguments(mlir::FunctionType signature,
                                                 mlir::TypeRange arguments);

// Binds the names in the dims of `signature` to the dims of the call's operands and results.
// Reports an error on the call and fails if these do not match. `callee` is the callee's name in
// messages.
llvm::FailureOr<std::map<std::string, DimExpr, std::less<>>> bind_signature(
    mlir::Operation* call, const llvm::Twine& callee, mlir::FunctionType signature);

// Reports an error and fails unless `symbol` is the name of a runtime-defined symbol. `what` names
// it in the message.
llvm::LogicalResult check_symbol(mlir::Operation* op, llvm::StringRef symbol,
                                 const char* what = "symbol");

// The callee's signature without the captured parameters. Reports an error and returns null in
// these cases: the callee does not exist, it takes or returns lists, or the captured values do not
// match its parameters.
ClosureType infer_closure(ClosureOp op);

}  // namespace scopevm::compiler::graph

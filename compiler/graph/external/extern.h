// External functions of a graph: their signatures, and the binding of a call's dims.
#pragma once

#include <map>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/BuiltinTypes.h"

namespace scopevm::compiler::graph {

// The dims of a call by the callee's names.
using DimBindings = std::map<std::string, DimExpr, std::less<>>;

// The callee's declaration; null if the callee is a function with a body or does not exist.
ExternOp declaration_of(CallExternOp call);

// Binds the names in the callee's type to the dims of the arguments and results. Reports an error
// on the call and fails if the callee does not exist or has another type.
llvm::FailureOr<DimBindings> bind_extern(CallExternOp call);

// The workspace formula with the names of the callee. REQUIRES: the declaration is verified.
DimExpr workspace_of(ExternOp declaration);

}  // namespace scopevm::compiler::graph

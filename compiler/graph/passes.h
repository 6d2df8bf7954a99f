// Passes over the graph, in the order in which the driver runs them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::graph {

// Folds constants, removes identities and what is unused: simplify.cpp.
llvm::LogicalResult simplify(mlir::ModuleOp module);

// Moves out of loops what all iterations can share, or compute at once: hoist.cpp.
llvm::LogicalResult hoist(mlir::ModuleOp module);

// Erases ops whose results nobody uses: simplify.cpp.
void remove_unused(mlir::func::FuncOp function);

// Forms an sv.group of the ops that become one kernel: fusion.cpp.
llvm::LogicalResult fuse(mlir::ModuleOp module);

}  // namespace scopevm::graph

// Passes over the graph, in the order in which the driver runs them.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace scopevm::graph {

// Folds constants, removes identities and what is unused: simplify.cpp.
llvm::LogicalResult simplify(mlir::ModuleOp module);

// Forms an sv.group of the ops that become one kernel: fusion.cpp.
llvm::LogicalResult fuse(mlir::ModuleOp module);

}  // namespace scopevm::graph

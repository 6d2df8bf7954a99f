// Places in the types of a graph that was parsed from MLIR assembly.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::frontend {

// Removes the places from all types. The place of an op result becomes an sv.on_device after the
// op, except for copies and for constants without a memory scope. Places of function parameters and
// results become attributes of the function.
void lift_places(mlir::ModuleOp module);

}  // namespace scopevm::compiler::frontend

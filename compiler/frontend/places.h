// Places in the types of a text.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::frontend {

// Takes the places out of all types. A result's becomes an sv.on_device behind it, a function's
// parameters and results keep theirs as attributes of the function.
void lift_places(mlir::ModuleOp module);

}  // namespace scopevm::compiler::frontend

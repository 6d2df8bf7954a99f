// External functions: the parts of a graph that libraries compute.
//   partition.h   parts of a graph -> functions that libraries may compute
//   declared.cpp  descriptions of functions that the model declares
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::external {

// Completes the declarations of a model: sets the description of each sv.extern without one, and
// moves the memory scopes of its types to the calls, as scopes that the function requires.
void complete_declarations(mlir::ModuleOp module);

}  // namespace scopevm::compiler::external

// Clones functions before placement, and merges equal ones afterwards. Private to
// compiler/placement.
#pragma once

#include <string_view>

#include "compiler/machine/machine.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::placement {

// The functions that closures of the module call. Their callers are unknown, so their parameters
// and results are on the host.
llvm::SetVector<mlir::func::FuncOp> functions_of_closures(mlir::ModuleOp module);

// Turns the places of the parameters and results of such functions into annotations in their
// bodies, unless the host without a scope satisfies them.
void annotate_functions_of_closures(mlir::ModuleOp module, const Machine& machine);

// Clones each function once per call, so that each call can be placed separately. Recursive calls,
// and calls beyond a limit, share functions.
void clone_per_call(mlir::ModuleOp module);
// Merges functions that are equal after placement, and renumbers the remaining clones.
void merge_equal_functions(mlir::ModuleOp module);

// The name of the function that a clone was made from; other names are returned unchanged.
std::string_view without_number(std::string_view name);

}  // namespace scopevm::compiler::placement

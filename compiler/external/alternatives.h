// The two ways to compute a part of a graph, each as a module with the function `main`.
#pragma once

#include <string_view>

#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace scopevm::compiler::external {

// A module with a copy of the outlined function, and a function `main` that calls it once. The
// parameters of `main` are those of the function, except for the constants of `call`, which `main`
// contains. A dim "$s0" of the function is the dim "s0" of `main`: inputs have no data-dependent
// dims.
mlir::OwningOpRef<mlir::ModuleOp> module_of_call(mlir::func::FuncOp function,
                                                 graph::CallExternOp call);

// The name in `main` of a dim of the function.
inline std::string_view name_in_main(std::string_view name) {
  return symbol_kind(name) == SymbolKind::kDimension ? name : name.substr(1);
}

}  // namespace scopevm::compiler::external

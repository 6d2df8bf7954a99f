// Passes over the graph, in the order in which the driver runs them.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "compiler/shapes/dim_expr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::graph {

// Folds constants, removes identities and what is unused: simplify.cpp.
llvm::LogicalResult simplify(mlir::ModuleOp module);

// Erases private functions that no public one calls, directly or through others: functions.cpp.
void remove_unused_functions(mlir::ModuleOp module);
// The functions that `function` calls in its body, in order, each once.
llvm::SmallVector<mlir::func::FuncOp> callees_of(mlir::func::FuncOp function);

// Moves out of loops what all iterations can share, or compute at once: hoist.cpp.
llvm::LogicalResult hoist(mlir::ModuleOp module);

// Replaces symbols in the types of a function's arguments, and infers all types behind them:
// specialise.cpp. Fails with a diagnostic where an op does not take the new types.
using Replacement = std::function<std::optional<DimExpr>(std::string_view)>;
llvm::LogicalResult specialise(mlir::func::FuncOp function, const Replacement& with);

// Erases ops whose results nobody uses: simplify.cpp.
void remove_unused(mlir::func::FuncOp function);

}  // namespace scopevm::compiler::graph

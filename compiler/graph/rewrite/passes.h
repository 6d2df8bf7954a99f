// Rewrites of whole modules and functions.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "compiler/dims/dim_expr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace scopevm::compiler::graph {

// Removes unused functions. In the others, folds constants, replaces known shape arithmetic,
// applies the canonicalization patterns, and removes dead ops: simplify.cpp. Always succeeds.
llvm::LogicalResult simplify(mlir::ModuleOp module);
// Simplifies one function with a body.
void simplify(mlir::func::FuncOp function);

// Computes in f32 what models in f16 and bf16 compute, if they have matrix products: widen.cpp.
void widen_halves(mlir::ModuleOp module);

// Replaces calls of recursive functions by calls of copies, where constant arguments and dims
// determine the depth of the recursion: recursion.cpp.
void unroll_recursion(mlir::ModuleOp module);

// Erases private functions that are unreachable from the public ones, and unused declarations of
// external functions: functions.cpp.
void remove_unused_functions(mlir::ModuleOp module);
// The functions that `function` calls directly or makes closures of, in order of first use, without
// duplicates.
llvm::SmallVector<mlir::func::FuncOp> callees_of(mlir::func::FuncOp function);
// The body of the function, and the regions of its branches and loops. The blocks of an op come
// after the block that contains the op. REQUIRES: the function has a body of one block.
llvm::SmallVector<mlir::Block*> blocks_of(mlir::func::FuncOp function);

// Loop-invariant code motion, and batching of products over all iterations: hoist.cpp.
llvm::LogicalResult hoist(mlir::ModuleOp module);

// Replaces symbols in the argument types and attributes of a function, and infers the types of all
// ops again: specialise.cpp. Fails with a diagnostic if an op rejects the new types.
using Replacement = std::function<std::optional<DimExpr>(std::string_view)>;
llvm::LogicalResult specialise(mlir::func::FuncOp function, const Replacement& with);

// Replaces every tuple by its elements, which are values of their own: flatten_tuples.cpp.
// REQUIRES: the module is valid, and its functions have bodies of one block.
void flatten_tuples(mlir::ModuleOp module);

// Erases dead ops: simplify.cpp.
void remove_unused(mlir::func::FuncOp function);

}  // namespace scopevm::compiler::graph

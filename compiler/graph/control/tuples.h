// Tuples: their ops, which only the frontend handles, and comparisons of their types.
#pragma once

#include <utility>

#include "compiler/graph/graph_ops.h"
#include "mlir/IR/BuiltinTypes.h"

#define GET_OP_CLASSES
#include "compiler/graph/control/tuples.h.inc"

namespace scopevm::compiler::graph {

// The types without tuples: each tuple is replaced by its elements, also those of tuples in it.
llvm::SmallVector<mlir::Type> leaves_of(mlir::TypeRange types);

// Pairs the leaves of `a` with those of `b`. Returns nothing if they are nested differently.
using TypePairs = llvm::SmallVector<std::pair<mlir::Type, mlir::Type>>;
std::optional<TypePairs> pair_leaves(mlir::TypeRange a, mlir::TypeRange b);

}  // namespace scopevm::compiler::graph

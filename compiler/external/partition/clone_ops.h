// Copies ops between functions whose dims have different names.
#pragma once

#include <optional>

#include "compiler/dims/dim_expr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace scopevm::compiler::external {

// The replacement of a dim; empty if it has none.
using ReplaceDim = llvm::function_ref<std::optional<DimExpr>(DimExpr)>;

// Clones the ops of a partition or of an outlined function, without the terminator, at the position
// of `builder`. `mapping` contains the block arguments, and receives the results. Replaces dims in
// attributes, and infers the result types. Fails if a dim has no replacement; the ops before are
// then cloned already. Fails with a diagnostic if an op rejects its operands.
llvm::LogicalResult clone_ops(mlir::Block& block, mlir::OpBuilder& builder,
                              mlir::IRMapping& mapping, ReplaceDim replace);

}  // namespace scopevm::compiler::external

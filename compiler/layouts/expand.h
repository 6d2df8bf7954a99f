// Transposed convolutions by channel whose windows do not overlap.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::layouts {

// Whether each element of the input produces a separate block of the result.
bool is_disjoint(graph::ConvTransposeOp op);

// Rewrites such convolutions with constant f32 weights: one matrix product computes all blocks, and
// a transposition moves their elements.
void expand_transposed(mlir::func::FuncOp function);

}  // namespace scopevm::compiler::layouts

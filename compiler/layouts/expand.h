// Transposed convolutions by channel whose windows do not overlap.
#pragma once

#include "compiler/graph/graph_ops.h"
#include "compiler/machine/machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::layouts {

// Whether each element of the input produces a separate block of the result.
bool is_disjoint(graph::ConvTransposeOp op);

// Rewrites such convolutions with constant f32 weights whose blocks have at most `most` elements,
// of all output channels: one matrix product computes all blocks, and a transposition moves their
// elements. The product is a new buffer, so convolutions on devices with limited default pools stay
// as they are.
void expand_transposed(mlir::func::FuncOp function, const Machine& machine,
                       int64_t most = INT64_MAX);

}  // namespace scopevm::compiler::layouts

// Transposed convolutions by channel as ordinary convolutions, which have faster kernels.
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

// Rewrites 1-D and 2-D transposed convolutions with constant f32 weights and without dilations, or
// only those of them with several groups: one convolution computes the elements of all phases (see
// graph::PhaseTaps) as output channels, and a transposition moves them. Windows of phases are parts
// of a common window, so that the convolution multiplies by zeros.
void expand_phases(mlir::func::FuncOp function, const Machine& machine, bool only_groups);

}  // namespace scopevm::compiler::layouts

// Convolutions by channel as other ops, which have faster kernels.
#pragma once

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::layouts {

// Whether each element of the input produces a separate block of the result.
bool is_disjoint(graph::ConvTransposeOp op);

// Replaces a transposed convolution with constant f32 weights that is disjoint, or 1-D or 2-D
// without dilations: one convolution computes the elements of all phases (see graph::PhaseTaps) as
// output channels, and a transposition moves them. Windows of phases are parts of a common window,
// so that the convolution multiplies by zeros; that of a disjoint one has one element.
// If it `may_be_blocked`, only those are replaced that have several groups, and disjoint ones with
// at most 16 elements of all output channels in a block. REQUIRES: buffers can become larger: the
// result of the convolution is a new one.
void expand(graph::ConvTransposeOp op, bool may_be_blocked);

// Whether u8 are multiplied by i8.
bool has_bytes(graph::ConvOp op);

// Replaces a convolution of bytes whose window is known, and whose place is not constrained, by
// products of matrices, or by elementwise ops if each group has one channel. REQUIRES: buffers can
// become larger.
void expand(graph::ConvOp op);

}  // namespace scopevm::compiler::layouts

// Code that packs bytes at run time into quads, in the layouts of microkernel.h. Matrices have
// contiguous rows, and buffers of i8; depth and columns count bytes, positions in `to` quads.
#pragma once

#include "compiler/kernels/contraction/pack/pack_panels.h"

namespace scopevm::compiler::kernels {

// Rows [first, last) of a -> to[to_at + (block * block_rows + row) * 1040 + step].
void emit_pack_quad_rows(Emitter& emit, const Target& target, const MatrixView& a,
                         mlir::Value first, mlir::Value last, mlir::Value depth,
                         mlir::Value block_rows, mlir::Value to, mlir::Value to_at);

// Columns [first, first + columns) of b -> to[to_at + step * 32 + j]; what does not exist is 0.
void emit_pack_quad_panel(Emitter& emit, const Target& target, const MatrixView& b,
                          mlir::Value first, mlir::Value columns, mlir::Value depth, mlir::Value to,
                          mlir::Value to_at);

}  // namespace scopevm::compiler::kernels

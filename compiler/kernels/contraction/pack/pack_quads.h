// Code that packs bytes at run time into quads, in the layouts of microkernel.h. Matrices have
// contiguous rows, and buffers of i8; depth and columns count bytes, positions in `to` quads.
#pragma once

#include "compiler/kernels/contraction/pack/pack_panels.h"

namespace scopevm::compiler::kernels {

// Rows [first, last) of a -> to[to_at + (block * block_rows + row) * 1040 + step].
void emit_pack_quad_rows(CodeBuilder& e, const MatrixView& a, Term first, Term last, Term depth,
                         Term block_rows, const Buffer& to, Term to_at);

// Columns [first, first + columns) of b -> to[to_at + step * 32 + j]; what does not exist is 0.
void emit_pack_quad_panel(CodeBuilder& e, const MatrixView& b, Term first, Term columns, Term depth,
                          const Buffer& to, Term to_at);

}  // namespace scopevm::compiler::kernels

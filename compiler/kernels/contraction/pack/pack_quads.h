// Code that packs bytes at run time into quads, in the layouts of microkernel.h. Matrices have
// contiguous rows in buffers of i8. `depth` and `columns` count bytes; positions in `to` count
// quads.
#pragma once

#include "compiler/kernels/contraction/pack/pack_panels.h"

namespace scopevm::compiler::kernels {

// Packs rows [first, last) of a, over the full depth. Quad `step` is stored at
//   to[to_at + packed_row_at(row - first, step, group_rows)]
void emit_pack_quad_rows(CodeBuilder& e, const MatrixView& a, Term first, Term last, Term depth,
                         Term group_rows, const Buffer& to, Term to_at);

// Packs columns [first, first + columns) of b. Quad `step` of column first + j is stored at
//   to[to_at + step * 32 + j]
// Elements past the columns or the depth are 0.
void emit_pack_quad_panel(CodeBuilder& e, const MatrixView& b, Term first, Term columns, Term depth,
                          const Buffer& to, Term to_at);

}  // namespace scopevm::compiler::kernels

// Code that packs operands at run time into the layouts of microkernel.h.
#pragma once

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/contraction/tile/microkernel.h"

namespace scopevm::compiler::kernels {

// A matrix in memory: element (row, column) at start + row * row_stride + column * column_stride.
// The stride that `rows_are_contiguous` names is 1.
struct MatrixView {
  Buffer buffer;
  Term start, stride;  // the stride that is not 1
  bool rows_are_contiguous = true;
};

// Rows [first, last) of a, all of its depth -> to[to_at + (block * block_rows + row) * 1040 + k].
void emit_pack_rows(CodeBuilder& e, const MatrixView& a, Term first, Term last, Term depth,
                    Term block_rows, const Buffer& to, Term to_at);

// Columns [first, first + columns) of b -> to[to_at + k * 32 + j]; columns that do not exist are 0.
void emit_pack_panel(CodeBuilder& e, const MatrixView& b, Term first, Term columns, Term depth,
                     const Buffer& to, Term to_at);

}  // namespace scopevm::compiler::kernels

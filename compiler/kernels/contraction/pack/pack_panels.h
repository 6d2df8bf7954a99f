// Code that packs operands at run time into the layouts of microkernel.h.
#pragma once

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/contraction/tile/microkernel.h"

namespace scopevm::compiler::kernels {

// A matrix in memory: element (row, column) is at start + row * row_stride + column *
// column_stride. One of the strides is 1: the column stride if `rows_are_contiguous`, else the row
// stride.
struct MatrixView {
  Buffer buffer;
  Term start, stride;  // the stride that is not 1
  bool rows_are_contiguous = true;
};

// Packs rows [first, last) of a, over the full depth. Element k is stored at
//   to[to_at + packed_row_at(row - first, k, group_rows)]
void emit_pack_rows(CodeBuilder& e, const MatrixView& a, Term first, Term last, Term depth,
                    Term group_rows, const Buffer& to, Term to_at);

// Packs columns [first, first + columns) of b. Element k of column first + j is stored at
//   to[to_at + k * 32 + j]
// If `columns` is below 32, the missing columns are 0.
void emit_pack_panel(CodeBuilder& e, const MatrixView& b, Term first, Term columns, Term depth,
                     const Buffer& to, Term to_at);

}  // namespace scopevm::compiler::kernels

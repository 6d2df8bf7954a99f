// The micro-kernels of matrix products C = A * B. A micro-kernel computes a tile of C, at most 12
// rows and 32 columns, over a block of the depth. microkernel.cpp and row_blocks.cpp name the
// sources of the method.
//
// The position of row r, column j and step k of the depth in each layout:
//   B panel        b[k * 32 + j]        32 columns of B
//   A rows         a[packed_row_at()]   rows of A that are packed at run time
//   A interleaved  a[k * 12 + r]        weights of convolutions
//   C tile         c[r * 32 + j]        sums in scratch memory, which the epilogue reads
// Layouts are the same for every target, so that packed constants serve all images of a module.
//
// The constants of a B panel can be f16 or bf16, which are converted when they are loaded: products
// of few rows are bound by the bytes of the weight. Else an element is an f32 or a quad. A quad is
// four bytes, adjacent along the depth, in an i32. One step of quads covers four bytes of the
// depth, and sums are i32.
#pragma once

#include "compiler/kernels/builder/kernel_module.h"
#include "compiler/kernels/builder/term.h"
#include "compiler/schedule/contraction.h"

namespace scopevm::compiler::kernels {

using schedule::ContractionTile;
using schedule::kBlockDepth;
using schedule::kChunk;
using schedule::kPanelColumns;
using schedule::kTileRows;
using schedule::kTileVectors;
using schedule::RowFormat;
using schedule::TileElement;

// The position of step k of row `row` in a group of packed rows. The chunks of its rows alternate,
// so that a group is contiguous and takes group_rows * round_up(depth, kChunk) elements.
Term packed_row_at(Term row, Term k, Term group_rows);

// Returns a private function of the module for a row format and an element. The first call creates
// it, and later calls extend it by further tiles:
//   tile(a, a_at, b, b_at, c, c_at, group_rows, depth, rows, columns, accumulate)
// It stores a * b, or c + a * b if `accumulate`, in c. The tile has depth >= 0 steps, and a number
// of rows in the heights of a schedule. Of its 32 columns, at least the first `columns` are
// computed. With RowFormat::kRows, its rows are part of a group of `group_rows` rows.
mlir::func::FuncOp tile_function(KernelModule& module,
                                 const schedule::ContractionSchedule& schedule);

}  // namespace scopevm::compiler::kernels

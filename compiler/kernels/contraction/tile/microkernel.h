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
// An element is an f32 or a quad. A quad is four bytes, adjacent along the depth, in an i32. One
// step of quads covers four bytes of the depth, and sums are i32.
#pragma once

#include "compiler/kernels/builder/kernel_module.h"
#include "compiler/kernels/builder/term.h"

namespace scopevm::compiler::kernels {

constexpr int64_t kPanelColumns = 32;
constexpr int64_t kTileRows = 12;
// Steps per depth block. A depth block of a B panel has 128 KiB and stays in L2 while the tiles of
// a row block use it.
constexpr int64_t kBlockDepth = 1024;
// Steps of a row of A that are adjacent in the packed rows: one cache line, and a multiple of the
// lanes of every target.
constexpr int64_t kChunk = 16;
// The maximum number of tiles in a row block. A depth block of 240 packed rows takes 1 MB, about
// the size of an L2 cache.
constexpr int64_t kBlockTiles = 20;

enum class RowFormat { kRows, kInterleaved };
enum class TileElement { kF32, kQuads };  // quads: u8 in A, i8 in B

// The numbers of rows that the tiles of a contraction can have: [least, most].
struct TileHeights {
  int64_t least = 1;
  int64_t most = kTileRows;
};

// The position of step k of row `row` in a group of packed rows. The chunks of its rows alternate,
// so that a group is contiguous and takes group_rows * round_up(depth, kChunk) elements.
Term packed_row_at(Term row, Term k, Term group_rows);

// Returns a private function of the module. The first call creates it, and later calls extend it by
// further heights:
//   tile(a, a_at, b, b_at, c, c_at, group_rows, depth, rows, columns, accumulate)
// It stores a * b, or c + a * b if `accumulate`, in c. The tile has depth >= 0 steps, and a number
// of rows in the `heights` of a call. Of its 32 columns, at least the first `columns` are computed.
// With RowFormat::kRows, its rows are part of a group of `group_rows` rows.
//
// `has_narrow`: tiles of few columns are faster. REQUIRES: interleaved rows of f32.
mlir::func::FuncOp tile_function(KernelModule& module, RowFormat format, TileElement element,
                                 TileHeights heights, bool has_narrow = false);

}  // namespace scopevm::compiler::kernels

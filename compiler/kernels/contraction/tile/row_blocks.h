// Rows of a contraction, cut into tiles and blocks of tiles: tile t of T holds rows
// [t * rows / T, (t + 1) * rows / T), so that tiles differ by at most one row; a block is a run of
// tiles whose packed rows fit a cache.
#pragma once

#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/tile/microkernel.h"

namespace scopevm::compiler::kernels {

struct RowBlocks {
  explicit RowBlocks(DimExpr rows, int64_t most_tiles = kBlockTiles);
  DimExpr rows, tiles, tiles_per_block, blocks;
  // Rows that a block has at most.
  DimExpr block_rows() const { return tiles_per_block * DimExpr(kTileRows); }
};

// Blocks of a depth; one, of no steps, for depth 0.
DimExpr depth_blocks(DimExpr depth);

// Fewest items worth a task: about a million multiply-adds. Passing over a panel of B costs as much
// as a few rows do.
DimExpr item_grain(DimExpr rows, DimExpr depth);

// A block of rows times one panel; what takes the sums gets the coordinates of its epilogue.
struct BlockOperands {
  mlir::func::FuncOp tile;  // of tile_function
  RowFormat format;
  // Rows format: packed by row block, a[a_at + (depth block * block_rows + row) * 1040 + k].
  // Interleaved: a[a_at + (tile * depth + k) * 12 + r].
  Buffer a;
  Term a_at;
  Buffer b;  // the panel
  Term b_at;
  Buffer scratch;  // block_rows * 32 sums
  Term scratch_at;
  Term rows, tiles, tiles_per_block, block;
  Term depth, depth_blocks;
  Term first_row;     // row coordinate of row 0 in the epilogue
  Term first_column;  // column coordinate of the panel's first column
  Term columns;       // of the panel that exist, 1 .. 32
};

// First row of tile `tile`.
Term tile_start(Term tile, Term rows, Term tiles);

// Takes sums of `lanes` neighbours in a row, or the first of them where there is a mask.
using TakeSums =
    llvm::function_ref<void(Term sums, Term row, Term column, int64_t lanes, Term mask)>;
void emit_block(CodeBuilder& e, const BlockOperands& operands, TakeSums take);

}  // namespace scopevm::compiler::kernels

// Divides the rows of a contraction into tiles and blocks of tiles. Tile t of T holds rows
// [t * rows / T, (t + 1) * rows / T), so that tile heights differ by at most one. A block is a
// sequence of tiles whose packed rows fit in a cache.
#pragma once

#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/tile/microkernel.h"

namespace scopevm::compiler::kernels {

struct RowBlocks {
  // `most_tiles`: the maximum number of tiles per block.
  explicit RowBlocks(DimExpr rows, int64_t most_tiles = kBlockTiles);
  DimExpr rows, tiles, tiles_per_block, blocks;
  // The maximum number of rows in a block.
  DimExpr block_rows() const { return tiles_per_block * DimExpr(kTileRows); }
};

// The blocks of a depth; depth 0 has one block without steps.
DimExpr depth_blocks(DimExpr depth);

// The smallest number of items per task: about a million multiply-adds. Reading a panel of B costs
// as much as a few rows do.
DimExpr item_grain(DimExpr rows, DimExpr depth);

// The operands of a block of rows times one panel, and the coordinates for its epilogue.
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
  Term first_row;     // epilogue coordinate of the block's row 0
  Term first_column;  // epilogue coordinate of the panel's first column
  Term columns;       // number of columns in the panel, 1 .. 32
};

// The first row of tile `tile`.
Term tile_start(Term tile, Term rows, Term tiles);

// Receives the sums of `lanes` adjacent elements of a row; with a mask, only the enabled ones.
using TakeSums =
    llvm::function_ref<void(Term sums, Term row, Term column, int64_t lanes, Term mask)>;
void emit_block(CodeBuilder& e, const BlockOperands& operands, TakeSums take);

}  // namespace scopevm::compiler::kernels

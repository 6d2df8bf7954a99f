// Emits the products of work items: some tiles of a row block and some adjacent panels.
#pragma once

#include <functional>

#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/tile/microkernel.h"

namespace scopevm::compiler::kernels {

// The operands of the product of some tiles of a row block and some adjacent panels, and the
// coordinates for its epilogue.
struct BlockOperands {
  mlir::func::FuncOp tile;  // of tile_function
  Buffer a;
  // The position in a of step k of a tile; k is a multiple of kBlockDepth. `row` is the distance
  // of the tile's first row from that of `first_tile`.
  std::function<Term(Term tile, Term row, Term k)> a_at;
  Term group_rows;  // as the tile function requires
  Buffer b;         // the panels, each of depth * 32 elements
  Term b_at;
  // Prefetches a panel of one depth block for the next item: the elements of b after this panel.
  bool prefetches_next = false;
  Buffer scratch;  // the sums of each panel: 32 per row of the tiles
  Term scratch_at;
  Term panels;                 // the number of panels; null: 1
  Term scratch_size;           // the number of sums of a panel; only used with several panels
  Term rows, tiles;            // of the whole matrix
  Term first_tile, last_tile;  // the tiles [first_tile, last_tile) are multiplied
  Term depth, depth_blocks;
  Term first_row;     // epilogue coordinate of row 0 of the product
  Term first_column;  // epilogue coordinate of the panel's first column
  Term columns;       // number of columns in the panels, at least 1
};

// The first row of tile number `tile` of `tiles`.
Term tile_start(Term tile, Term rows, Term tiles);

// Receives the sums of `lanes` adjacent elements of a row. If `mask` is not null, only the lanes
// where it is true are elements of the result.
using TakeSums =
    llvm::function_ref<void(Term sums, Term row, Term column, int64_t lanes, Term mask)>;
// Emits the product of tiles and panels, and passes its sums to `take`.
void emit_block(CodeBuilder& e, const BlockOperands& operands, TakeSums take);
// Only passes the sums, which are in scratch memory, to `take`.
void emit_sums(CodeBuilder& e, const BlockOperands& operands, TakeSums take);

}  // namespace scopevm::compiler::kernels

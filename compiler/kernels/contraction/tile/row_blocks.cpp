// Emits the product of a row block and panels. The blocking follows Goto and van de Geijn, Anatomy
// of High-Performance Matrix Multiplication (2008); compiler/schedule/contraction.h defines the
// block sizes.
#include "compiler/kernels/contraction/tile/row_blocks.h"

namespace scopevm::compiler::kernels {

Term tile_start(Term tile, Term rows, Term tiles) { return quotient(tile * rows, tiles); }

namespace {

// Calls `body` for each panel, with its number of columns.
void each_panel(CodeBuilder& e, const BlockOperands& o,
                llvm::function_ref<void(Term panel, Term columns)> body) {
  if (!o.panels) return body(e.index(0), o.columns);
  e.loop(e.index(0), o.panels, 1,
         [&](Term panel) { body(panel, min(o.columns - panel * kPanelColumns, kPanelColumns)); });
}

// The position of a panel's sums in scratch memory.
Term sums_at(const BlockOperands& o, Term panel) {
  return o.panels ? o.scratch_at + panel * o.scratch_size : o.scratch_at;
}

// Prefetches a part of the `depth` steps of b from `b_at` on, which the next item reads. All tiles
// of an item prefetch equal parts, except for the first one: it is the first to read the current
// panel.
void prefetch_part(CodeBuilder& e, const BlockOperands& o, Term b_at, Term depth, Term tile) {
  const int64_t line = 64 / byte_size(o.b.dtype);  // elements
  const Term parts = max(o.last_tile - o.first_tile - 1, 1), part = tile - o.first_tile;
  const Term end = quotient(depth * part, parts);
  const Term begin = quotient(depth * max(part - 1, 0), parts);
  e.loop(begin, end, 1, [&](Term k) {
    for (int64_t at = 0; at < kPanelColumns; at += line)
      e.prefetch(o.b, b_at + k * kPanelColumns + at);
  });
}

void emit_tiles(CodeBuilder& e, const BlockOperands& o, Term first_row) {
  e.loop(e.index(0), o.depth_blocks, 1, [&](Term block) {
    Term k = block * kBlockDepth;
    Term depth = min(o.depth - k, kBlockDepth);
    // The first depth block overwrites the sums of the previous item. It also exists for depth 0,
    // where it writes zeros.
    Term accumulate = 0 < block;
    Term b_at = o.b_at + k * kPanelColumns;
    // The loop over tiles is the inner one, so that a depth block of the B panels stays in L2 while
    // all tiles use it.
    e.loop(o.first_tile, o.last_tile, 1, [&](Term tile) {
      Term start = tile_start(tile, o.rows, o.tiles);
      Term rows = tile_start(tile + 1, o.rows, o.tiles) - start;
      Term row = start - first_row;
      Term a_at = o.a_at(tile, row, k);
      if (o.prefetches_next) prefetch_part(e, o, b_at + depth * kPanelColumns, depth, tile);
      each_panel(e, o, [&](Term panel, Term columns) {
        e.call(o.tile, {o.a.memref, a_at, o.b.memref, b_at + panel * (o.depth * kPanelColumns),
                        o.scratch.memref, sums_at(o, panel) + row * kPanelColumns, o.group_rows,
                        depth, rows, columns, accumulate});
      });
    });
  });
}

}  // namespace

void emit_sums(CodeBuilder& e, const BlockOperands& o, TakeSums take) {
  const Term first_row = tile_start(o.first_tile, o.rows, o.tiles);
  const Term last_row = tile_start(o.last_tile, o.rows, o.tiles);
  int64_t lanes = e.target().lanes(4);
  e.loop(e.index(0), last_row - first_row, 1, [&](Term r) {
    Term row = o.first_row + (first_row + r);
    each_panel(e, o, [&](Term panel, Term columns) {
      Term from = sums_at(o, panel) + r * kPanelColumns, first = panel * kPanelColumns;
      e.loop(e.index(0), columns, lanes, [&](Term j) {
        Term sum = e.load(o.scratch, from + j, lanes);
        Term column = o.first_column + first + j;
        Term left = columns - j;
        e.when(
            // Rows of scratch have all 32 columns, so the load needs no mask. The rows of operands
            // and results end at the last column, so `take` needs one.
            lanes <= left, [&] { take(sum, row, column, lanes, {}); },
            [&] { take(sum, row, column, lanes, e.mask(left, lanes)); });
      });
    });
  });
}

void emit_block(CodeBuilder& e, const BlockOperands& o, TakeSums take) {
  emit_tiles(e, o, tile_start(o.first_tile, o.rows, o.tiles));
  emit_sums(e, o, take);
}

}  // namespace scopevm::compiler::kernels

// One row block times one panel: depth blocks, tiles, epilogue. See the header.
#include "compiler/kernels/contraction/matmul/row_blocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::kernels {

using mlir::Value;

RowBlocks::RowBlocks(DimExpr rows, int64_t most_tiles) : rows(rows) {
  tiles = ceildiv(rows, kTileRows);
  DimExpr at_least = max(ceildiv(tiles, most_tiles), 1);
  tiles_per_block = max(ceildiv(tiles, at_least), 1);
  blocks = ceildiv(tiles, tiles_per_block);
}

DimExpr depth_blocks(DimExpr depth) { return max(ceildiv(depth, kBlockDepth), 1); }

DimExpr item_grain(DimExpr rows, DimExpr depth) {
  constexpr int64_t kTaskSteps = 1 << 20;
  constexpr int64_t kPanelCostInRows = 8;
  DimExpr steps = DimExpr(kPanelColumns) * (rows + DimExpr(kPanelCostInRows)) * max(depth, 1);
  return max(floordiv(kTaskSteps, steps), 1);
}

Value tile_start(Emitter& e, Value tile, Value rows, Value tiles) {
  return e.div(e.mul(tile, rows), tiles);
}

namespace {

void emit_tiles(Emitter& e, const BlockOperands& o, Value first_tile, Value last_tile,
                Value first_row) {
  Value block_rows = e.mul(o.tiles_per_block, kTileRows);
  e.loop(e.index(0), o.depth_blocks, 1, [&](Value block) {
    Value k = e.mul(block, kBlockDepth);
    Value depth = e.min(e.sub(o.depth, k), e.index(kBlockDepth));
    Value accumulate = e.less(e.index(0), block);
    Value b_at = e.add(o.b_at, e.mul(k, kPanelColumns));
    e.loop(first_tile, last_tile, 1, [&](Value tile) {
      Value start = tile_start(e, tile, o.rows, o.tiles);
      Value rows = e.sub(tile_start(e, e.add(tile, 1), o.rows, o.tiles), start);
      Value row = e.sub(start, first_row);
      Value a_at = o.format == RowFormat::kRows
                       ? e.mul(e.add(e.mul(block, block_rows), row), kRowStride)
                       : e.mul(e.add(e.mul(tile, o.depth), k), kTileRows);
      e.call(o.tile, {o.a, e.add(o.a_at, a_at), o.b, b_at, o.scratch,
                      e.add(o.scratch_at, e.mul(row, kPanelColumns)), depth, rows, accumulate});
    });
  });
}

void emit_finish(Emitter& e, const Target& target, const BlockOperands& o, Value first_row,
                 Value last_row, TakeSums take) {
  int64_t lanes = target.lanes(4);
  auto type = mlir::VectorType::get({lanes}, mlir::getElementTypeOrSelf(o.scratch.getType()));
  e.loop(e.index(0), e.sub(last_row, first_row), 1, [&](Value r) {
    Value from = e.add(o.scratch_at, e.mul(r, kPanelColumns));
    Value row = e.add(o.first_row, e.add(first_row, r));
    e.loop(e.index(0), o.columns, lanes, [&](Value j) {
      Value sum = e.load(o.scratch, e.add(from, j), type);
      Value column = e.add(o.first_column, j);
      Value left = e.sub(o.columns, j);
      e.when(
          e.less_equal(e.index(lanes), left), [&] { take(sum, row, column, lanes, nullptr); },
          [&] { take(sum, row, column, lanes, e.mask(left, lanes)); });
    });
  });
}

}  // namespace

void emit_block(Emitter& e, const Target& target, const BlockOperands& o, TakeSums take) {
  Value first_tile = e.mul(o.block, o.tiles_per_block);
  Value last_tile = e.min(e.add(first_tile, o.tiles_per_block), o.tiles);
  Value first_row = tile_start(e, first_tile, o.rows, o.tiles);
  Value last_row = tile_start(e, last_tile, o.rows, o.tiles);
  emit_tiles(e, o, first_tile, last_tile, first_row);
  emit_finish(e, target, o, first_row, last_row, take);
}

}  // namespace scopevm::compiler::kernels

// Matrix products of f32, and of u8 by i8 with i32 sums. Rows of a are packed at run time. Panels
// of b are packed at compile time if b is a single constant matrix, otherwise by each work item.
// Bytes are packed in quads along the depth. Outside the packing code, the unit of the depth is a
// step: one f32 or one quad.
//
// Grid: batch x row blocks x panels x parts of a block. A worker packs the rows of a block once for
// all its panels, and a panel once for all parts. Only deep matrices have several parts per block.
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/contraction/pack/pack_panels.h"
#include "compiler/kernels/contraction/pack/pack_quads.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"

namespace scopevm::compiler::kernels {
namespace {

// The prefetcher of the CPU reads deeper panels early enough. Products with shallower ones, which
// are at most as large as L1, take 3 to 10 % less time if a panel is prefetched during the products
// with the panel before it.
constexpr int64_t kPrefetchedDepth = 256;

class MatMul {
 public:
  MatMul(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(mlir::cast<graph::MatMulOp>(fused.contraction)),
        shape_(fused),
        is_quads_(is_byte_matmul(fused)),
        steps_(is_quads_ ? ceildiv(shape_.depth, 4) : shape_.depth),
        epilogue_(fused, shape_.axes),
        k_(context, op_, is_quads_ ? "matmul_bytes" : "matmul") {
    shape_.collapse_batch(epilogue_);
  }

  llvm::LogicalResult lower() {
    RowBlocks blocks(shape_.rows);
    tile_ = tile_function(context_.kernels(), RowFormat::kRows,
                          is_quads_ ? TileElement::kQuads : TileElement::kF32, blocks.heights());
    DimExpr panels = ceildiv(shape_.columns, kPanelColumns);
    DimExpr parts = ceildiv(blocks.tiles_per_block, tiles_per_item(steps_));
    DimExpr tiles_per_part = ceildiv(blocks.tiles_per_block, parts);
    declare(blocks, panels);
    has_parts_ = !parts.is_constant(1);
    parts_ = has_parts_ ? k_.param(parts) : k_.index(1);
    if (has_parts_) tiles_per_part_ = k_.param(tiles_per_part);
    emit_items();
    DimExpr grid = element_count(shape_.batch) * blocks.blocks * panels * parts;
    DimExpr part_rows = tiles_per_part * DimExpr(kTileRows);
    return k_.launch(grid, item_grain(min(shape_.rows, part_rows), steps_));
  }

 private:
  void declare(const RowBlocks& blocks, DimExpr panels) {
    // Only a single matrix of static shape is packed at compile time.
    is_packed_ = shape_.b_is_single && shape_.depth.is_constant() && shape_.columns.is_constant() &&
                 packs_constant(context_, fused_.outer(op_.getB()), pads_b());
    // The element type of packed operands and of sums: a step of the depth is one element.
    DType step = is_quads_ ? DType::kI32 : DType::kF32;
    a_ = k_.operand(fused_.outer(op_.getA()), Elements::kNumbers);
    b_ = is_packed_
             ? k_.operand(packed_constant(fused_.outer(op_.getB())), step, Elements::kNumbers)
             : k_.operand(fused_.outer(op_.getB()), Elements::kNumbers);
    epilogue_.declare(k_);
    DimExpr sums_size = blocks.block_rows() * DimExpr(kPanelColumns);
    // The rows of a tile are one group of packed rows.
    DimExpr tile_size = blocks.tile_rows() * round_up(steps_, kChunk);
    DimExpr rows_size = blocks.tiles_per_block * tile_size;
    DimExpr panel_size = is_packed_ ? DimExpr(0) : steps_ * DimExpr(kPanelColumns);
    scratch_ = k_.scratch(sums_size + rows_size + panel_size, step);
    rows_at_ = k_.param(sums_size);
    panel_at_ = k_.param(sums_size + rows_size);
    batch_.emplace(k_, shape_);
    row_count_ = k_.param(shape_.rows);
    column_count_ = k_.param(shape_.columns);
    depth_param_ = k_.param(shape_.depth);
    step_count_ = is_quads_ ? k_.param(steps_) : depth_param_;
    depth_blocks_ = k_.param(depth_blocks(steps_));
    tile_rows_ = k_.param(blocks.tile_rows());
    tile_size_ = k_.param(tile_size);
    tiles_ = k_.param(blocks.tiles);
    tiles_per_block_ = k_.param(blocks.tiles_per_block);
    block_count_ = k_.param(blocks.blocks);
    panels_ = k_.param(panels);
  }

  bool pads_b() const {
    return *shape_.columns.as_constant() % kPanelColumns != 0 ||
           (is_quads_ && *shape_.depth.as_constant() % 4 != 0);
  }

  ValueId packed_constant(mlir::Value b) {
    int64_t depth = *shape_.depth.as_constant(), columns = *shape_.columns.as_constant();
    return is_quads_ ? packed_quad_panels(context_, b, depth, columns)
                     : packed_panels(context_, b, depth, columns, shape_.transpose_b);
  }

  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      Term part = remainder(item, parts_), panel_item = quotient(item, parts_);
      Term panel = remainder(panel_item, panels_), block_item = quotient(panel_item, panels_);
      Term block = remainder(block_item, block_count_);
      Terms at = batch_->coordinates(quotient(block_item, block_count_));
      Part rows = rows_of(block, part);
      // The first items that a worker executes for a block are those of all its parts.
      Term block_begin = block_item * panels_ * parts_;
      k_.when(k_.items_done(item, block_begin) < parts_, [&] { emit_rows(at, rows); });
      Term first_column = panel * kPanelColumns;
      Term columns = min(column_count_ - first_column, kPanelColumns);
      if (!is_packed_)
        k_.when(k_.items_done(item, panel_item * parts_) == 0,
                [&] { emit_panel(at, first_column, columns); });
      emit_item(at, rows, panel, columns);
    });
  }

  // The tiles of a part of a block, and the position of its packed rows.
  struct Part {
    Term first_tile, last_tile, rows_at;
  };

  Part rows_of(Term block, Term part) {
    Term block_tile = block * tiles_per_block_;
    Term block_end = min(block_tile + tiles_per_block_, tiles_);
    Term block_rows_at = scratch_.start + rows_at_;
    if (!has_parts_) return {block_tile, block_end, block_rows_at};
    // The last parts of the last block can be empty.
    Term first_tile = min(block_tile + part * tiles_per_part_, block_end);
    Term last_tile = min(first_tile + tiles_per_part_, block_end);
    return {first_tile, last_tile, block_rows_at + (first_tile - block_tile) * tile_size_};
  }

  // The position of the packed rows of a tile.
  Term tile_at(const Part& rows, Term tile) {
    return rows.rows_at + (tile - rows.first_tile) * tile_size_;
  }

  void emit_rows(llvm::ArrayRef<Term> at, const Part& rows) {
    MatrixView a{a_, batch_->a_start(k_, at), shape_.transpose_a ? row_count_ : depth_param_,
                 !shape_.transpose_a};
    auto pack = is_quads_ ? emit_pack_quad_rows : emit_pack_rows;
    k_.loop(rows.first_tile, rows.last_tile, 1, [&](Term tile) {
      pack(k_, a, tile_start(tile, row_count_, tiles_), tile_start(tile + 1, row_count_, tiles_),
           depth_param_, tile_rows_, scratch_.buffer, tile_at(rows, tile));
    });
  }

  void emit_panel(llvm::ArrayRef<Term> at, Term first_column, Term columns) {
    MatrixView b{b_, batch_->b_start(k_, at), shape_.transpose_b ? depth_param_ : column_count_,
                 !shape_.transpose_b};
    auto pack = is_quads_ ? emit_pack_quad_panel : emit_pack_panel;
    pack(k_, b, first_column, columns, depth_param_, scratch_.buffer, scratch_.start + panel_at_);
  }

  void emit_item(llvm::ArrayRef<Term> at, const Part& rows, Term panel, Term columns) {
    epilogue_.enter(k_, at);
    BlockOperands operands{
        .tile = tile_,
        .a = scratch_.buffer,
        .a_at = [&](Term tile, Term, Term k) { return tile_at(rows, tile) + k * tile_rows_; },
        .group_rows = tile_rows_,
        .b = is_packed_ ? b_ : scratch_.buffer,
        .b_at = is_packed_ ? panel * step_count_ * kPanelColumns : scratch_.start + panel_at_,
        .prefetches_next = is_packed_ && *steps_.as_constant() <= kPrefetchedDepth,
        .scratch = scratch_.buffer,
        .scratch_at = scratch_.start,
        .rows = row_count_,
        .tiles = tiles_,
        .first_tile = rows.first_tile,
        .last_tile = rows.last_tile,
        .depth = step_count_,
        .depth_blocks = depth_blocks_,
        // Tiles are numbered over all rows, so the epilogue receives row numbers of the whole
        // matrix.
        .first_row = k_.index(0),
        .first_column = panel * kPanelColumns,
        .columns = columns};
    emit_block(k_, operands, [&](Term sums, Term row, Term column, int64_t lanes, Term mask) {
      epilogue_.emit(k_, sums, row, column, lanes, mask);
    });
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  graph::MatMulOp op_;
  MatMulShape shape_;
  bool is_quads_;
  DimExpr steps_;
  mlir::func::FuncOp tile_;
  Epilogue epilogue_;
  KernelBuilder k_;

  bool is_packed_ = false;
  bool has_parts_ = false;  // a block can have several parts
  Buffer a_, b_;
  Scratch scratch_;
  std::optional<BatchCoordinates> batch_;
  Term rows_at_, panel_at_, row_count_, column_count_, depth_param_, step_count_, depth_blocks_,
      tile_rows_, tile_size_, tiles_, tiles_per_block_, block_count_, panels_, parts_,
      tiles_per_part_;
};

}  // namespace

bool is_byte_matmul(const FusedContraction& fused) {
  auto op = mlir::dyn_cast<graph::MatMulOp>(fused.contraction);
  auto has = [](mlir::Value value, DType dtype) { return dtype_of(value) == dtype; };
  return op && has(op.getA(), DType::kU8) && has(op.getB(), DType::kI8) && !op.getTransposeA() &&
         !op.getTransposeB();
}

llvm::LogicalResult lower_matmul(const FusedContraction& fused, LoweringContext& context) {
  return MatMul(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels

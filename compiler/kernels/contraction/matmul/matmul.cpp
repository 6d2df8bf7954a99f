// Matrix products of f32, and of u8 by i8 with i32 sums. Rows of a are packed at run time. Panels
// of b are packed at compile time if b is a single constant matrix, otherwise by each work item.
// Bytes are packed in quads along the depth. Outside the packing code, the unit of the depth is a
// step: one f32 or one quad.
//
// Grid: batch x row blocks x panels. The panels are innermost, so that a worker packs the rows of a
// block once for all its panels.
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/contraction/pack/pack_panels.h"
#include "compiler/kernels/contraction/pack/pack_quads.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"

namespace scopevm::compiler::kernels {
namespace {

class MatMul {
 public:
  MatMul(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(mlir::cast<graph::MatMulOp>(fused.contraction)),
        shape_(fused),
        is_quads_(is_byte_matmul(fused)),
        steps_(is_quads_ ? ceildiv(shape_.depth, 4) : shape_.depth),
        tile_(tile_function(context.kernels(), RowFormat::kRows,
                            is_quads_ ? TileElement::kQuads : TileElement::kF32)),
        epilogue_(fused, shape_.axes),
        k_(context, op_, is_quads_ ? "matmul_bytes" : "matmul") {
    shape_.collapse_batch(epilogue_);
  }

  llvm::LogicalResult lower() {
    RowBlocks blocks(shape_.rows);
    DimExpr panels = ceildiv(shape_.columns, kPanelColumns);
    declare(blocks, panels);
    emit_items();
    DimExpr grid = element_count(shape_.batch) * blocks.blocks * panels;
    return k_.launch(grid, item_grain(min(shape_.rows, blocks.block_rows()), steps_));
  }

 private:
  void declare(const RowBlocks& blocks, DimExpr panels) {
    mlir::ElementsAttr constant = context_.constant_of(fused_.outer(op_.getB()));
    // Only a single matrix of static shape is packed at compile time.
    is_packed_ = constant && shape_.batch.empty() && shape_.depth.is_constant() &&
                 shape_.columns.is_constant();
    // The element type of packed operands and of sums: a step of the depth is one element.
    DType step = is_quads_ ? DType::kI32 : DType::kF32;
    a_ = k_.operand(fused_.outer(op_.getA()), Elements::kNumbers);
    b_ = is_packed_
             ? k_.operand(packed_constant(fused_.outer(op_.getB())), step, Elements::kNumbers)
             : k_.operand(fused_.outer(op_.getB()), Elements::kNumbers);
    epilogue_.declare(k_);
    DimExpr block_rows = blocks.block_rows(), k_blocks = depth_blocks(steps_);
    // A matrix with fewer rows than a block needs less scratch. A small scratch can fit in a frame.
    DimExpr scratch_rows = shape_.rows.is_constant() ? min(shape_.rows, block_rows) : block_rows;
    DimExpr tile_size = scratch_rows * DimExpr(kPanelColumns);
    // The packed depth blocks are `block_rows` rows apart. The last one needs space only for the
    // rows that exist.
    DimExpr rows_size = ((k_blocks - DimExpr(1)) * block_rows + scratch_rows) * DimExpr(kRowStride);
    DimExpr panel_size = is_packed_ ? DimExpr(0) : steps_ * DimExpr(kPanelColumns);
    scratch_ = k_.scratch(tile_size + rows_size + panel_size, step);
    rows_at_ = k_.param(tile_size);
    panel_at_ = k_.param(tile_size + rows_size);
    batch_.emplace(k_, shape_);
    row_count_ = k_.param(shape_.rows);
    column_count_ = k_.param(shape_.columns);
    depth_param_ = k_.param(shape_.depth);
    step_count_ = is_quads_ ? k_.param(steps_) : depth_param_;
    depth_blocks_ = k_.param(k_blocks);
    tiles_ = k_.param(blocks.tiles);
    tiles_per_block_ = k_.param(blocks.tiles_per_block);
    block_count_ = k_.param(blocks.blocks);
    panels_ = k_.param(panels);
  }

  ValueId packed_constant(mlir::Value b) {
    int64_t depth = *shape_.depth.as_constant(), columns = *shape_.columns.as_constant();
    return is_quads_ ? packed_quad_panels(context_, b, depth, columns)
                     : packed_panels(context_, b, depth, columns, shape_.transpose_b);
  }

  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      Term packed_block = quotient(item, panels_);
      Term panel = remainder(item, panels_);
      Term batch = quotient(packed_block, block_count_);
      Term block = remainder(packed_block, block_count_);
      Terms at = batch_->coordinates(batch);
      k_.when(k_.starts_group(item, packed_block * panels_), [&] { emit_rows(at, block); });
      emit_item(at, block, panel);
    });
  }

  void emit_rows(llvm::ArrayRef<Term> at, Term block) {
    Term first_tile = block * tiles_per_block_;
    Term last_tile = min(first_tile + tiles_per_block_, tiles_);
    MatrixView a{a_, batch_->a_start(k_, at), shape_.transpose_a ? row_count_ : depth_param_,
                 !shape_.transpose_a};
    auto pack = is_quads_ ? emit_pack_quad_rows : emit_pack_rows;
    pack(k_, a, tile_start(first_tile, row_count_, tiles_),
         tile_start(last_tile, row_count_, tiles_), depth_param_, tiles_per_block_ * kTileRows,
         scratch_.buffer, scratch_.start + rows_at_);
  }

  void emit_item(llvm::ArrayRef<Term> at, Term block, Term panel) {
    Term first = panel * kPanelColumns;
    Term columns = min(column_count_ - first, kPanelColumns);
    Buffer b = b_;
    // The position of the panel in the packed constant.
    Term b_at = panel * step_count_ * kPanelColumns;
    if (!is_packed_) {
      MatrixView view{b, batch_->b_start(k_, at), shape_.transpose_b ? depth_param_ : column_count_,
                      !shape_.transpose_b};
      b = scratch_.buffer;
      b_at = scratch_.start + panel_at_;
      auto pack = is_quads_ ? emit_pack_quad_panel : emit_pack_panel;
      pack(k_, view, first, columns, depth_param_, b, b_at);
    }
    epilogue_.enter(k_, at);
    BlockOperands operands{.tile = tile_,
                           .format = RowFormat::kRows,
                           .a = scratch_.buffer,
                           .a_at = scratch_.start + rows_at_,
                           .b = b,
                           .b_at = b_at,
                           .scratch = scratch_.buffer,
                           .scratch_at = scratch_.start,
                           .rows = row_count_,
                           .tiles = tiles_,
                           .tiles_per_block = tiles_per_block_,
                           .block = block,
                           .depth = step_count_,
                           .depth_blocks = depth_blocks_,
                           // Tiles are numbered over all rows, so the epilogue receives row numbers
                           // of the whole matrix.
                           .first_row = k_.index(0),
                           .first_column = first,
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
  Buffer a_, b_;
  Scratch scratch_;
  std::optional<BatchCoordinates> batch_;
  Term rows_at_, panel_at_, row_count_, column_count_, depth_param_, step_count_, depth_blocks_,
      tiles_, tiles_per_block_, block_count_, panels_;
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

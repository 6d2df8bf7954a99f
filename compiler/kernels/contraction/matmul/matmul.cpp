// Matrix products of f32, and of u8 by i8 in i32: rows of a are copied, panels of b are packed at
// compile time when b is a constant and by each work item when it is not. Bytes travel in quads
// along the depth; everything here but the packing counts steps of the depth, one f32 or one quad
// each.
//
// Grid: batch x row blocks x panels, panels innermost, so that a worker packs the rows of a block
// once for all the panels it gets.
#include "compiler/kernels/contraction/contraction.h"
#include "compiler/kernels/contraction/matmul/matmul_shape.h"
#include "compiler/kernels/contraction/matmul/row_blocks.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/contraction/pack/pack_panels.h"
#include "compiler/kernels/contraction/pack/pack_quads.h"

namespace scopevm::compiler::kernels {
namespace {

using mlir::Value;

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
        builder_(op_.getContext()),
        e_(builder_),
        launch_(context, builder_) {
    shape_.collapse_batch(epilogue_);
  }

  void lower() {
    RowBlocks blocks(shape_.rows);
    DimExpr panels = ceildiv(shape_.columns, kPanelColumns);
    declare(blocks, panels);
    mlir::func::FuncOp tile = tile_function(context_.kernels(), RowFormat::kRows,
                                            is_quads_ ? TileElement::kQuads : TileElement::kF32);
    launch_.begin_body();
    emit_items(tile);
    DimExpr grid = element_count(shape_.batch) * blocks.blocks * panels;
    launch_.finish(is_quads_ ? "matmul_bytes" : "matmul", grid,
                   item_grain(min(shape_.rows, blocks.block_rows()), steps_));
  }

 private:
  void declare(const RowBlocks& blocks, DimExpr panels) {
    mlir::ElementsAttr constant = context_.constant_of(fused_.outer(op_.getB()));
    // A packed constant is one matrix of known size.
    is_packed_ = constant && shape_.batch.empty() && shape_.depth.is_constant() &&
                 shape_.columns.is_constant();
    a_ = launch_.operand(context_.value_of(fused_.outer(op_.getA())),
                         is_quads_ ? DType::kU8 : DType::kF32);
    if (is_packed_)
      b_ = launch_.operand(packed_constant(constant), is_quads_ ? DType::kI32 : DType::kF32);
    else
      b_ = launch_.operand(context_.value_of(fused_.outer(op_.getB())),
                           is_quads_ ? DType::kI8 : DType::kF32);
    epilogue_.declare(launch_, context_);
    DimExpr block_rows = blocks.block_rows(), k_blocks = depth_blocks(steps_);
    // Of a matrix of few rows, those that there are: what it takes may then fit a frame.
    DimExpr held = shape_.rows.is_constant() ? min(shape_.rows, block_rows) : block_rows;
    DimExpr tile_size = held * DimExpr(kPanelColumns);
    DimExpr rows_size = ((k_blocks - DimExpr(1)) * block_rows + held) * DimExpr(kRowStride);
    DimExpr panel_size = is_packed_ ? DimExpr(0) : steps_ * DimExpr(kPanelColumns);
    scratch_ =
        launch_.scratch(tile_size + rows_size + panel_size, is_quads_ ? DType::kI32 : DType::kF32);
    rows_at_ = launch_.param(tile_size);
    panel_at_ = launch_.param(tile_size + rows_size);
    batch_.emplace(launch_, shape_);
    row_count_ = launch_.param(shape_.rows);
    column_count_ = launch_.param(shape_.columns);
    depth_param_ = launch_.param(shape_.depth);
    step_count_ = is_quads_ ? launch_.param(steps_) : depth_param_;
    depth_blocks_ = launch_.param(k_blocks);
    tiles_ = launch_.param(blocks.tiles);
    tiles_per_block_ = launch_.param(blocks.tiles_per_block);
    block_count_ = launch_.param(blocks.blocks);
    panels_ = launch_.param(panels);
  }

  ValueId packed_constant(mlir::ElementsAttr b) {
    int64_t depth = *shape_.depth.as_constant(), columns = *shape_.columns.as_constant();
    return is_quads_ ? packed_quad_panels(context_, b, depth, columns)
                     : packed_panels(context_, b, depth, columns, shape_.transpose_b);
  }

  void emit_items(mlir::func::FuncOp tile) {
    Value base = launch_.scratch_start(e_, scratch_);
    Value none = e_.index(-1);
    e_.fold(launch_.begin(), launch_.end(), 1, none, [&](Value item, mlir::ValueRange carried) {
      Value packed_block = e_.div(item, launch_[panels_]);
      Value panel = e_.rem(item, launch_[panels_]);
      Value batch = e_.div(packed_block, launch_[block_count_]);
      Value block = e_.rem(packed_block, launch_[block_count_]);
      llvm::SmallVector<Value> at = batch_->coordinates(e_, launch_, batch);
      e_.when(e_.equal(packed_block, carried[0]), [] {}, [&] { emit_rows(base, at, block); });
      emit_item(tile, base, at, block, panel);
      return Emitter::Values{packed_block};
    });
  }

  void emit_rows(Value base, mlir::ValueRange at, Value block) {
    Value first_tile = e_.mul(block, launch_[tiles_per_block_]);
    Value last_tile = e_.min(e_.add(first_tile, launch_[tiles_per_block_]), launch_[tiles_]);
    MatrixView a{launch_[a_], batch_->a_start(e_, launch_, at),
                 shape_.transpose_a ? launch_[row_count_] : launch_[depth_param_],
                 !shape_.transpose_a};
    auto pack = is_quads_ ? emit_pack_quad_rows : emit_pack_rows;
    pack(e_, context_.kernels().target(), a,
         tile_start(e_, first_tile, launch_[row_count_], launch_[tiles_]),
         tile_start(e_, last_tile, launch_[row_count_], launch_[tiles_]), launch_[depth_param_],
         e_.mul(launch_[tiles_per_block_], kTileRows), launch_[scratch_],
         e_.add(base, launch_[rows_at_]));
  }

  void emit_item(mlir::func::FuncOp tile, Value base, mlir::ValueRange at, Value block,
                 Value panel) {
    Value first = e_.mul(panel, kPanelColumns);
    Value columns = e_.min(e_.sub(launch_[column_count_], first), e_.index(kPanelColumns));
    Value b = launch_[b_], b_at = e_.mul(e_.mul(panel, launch_[step_count_]), kPanelColumns);
    if (!is_packed_) {
      MatrixView view{b, batch_->b_start(e_, launch_, at),
                      shape_.transpose_b ? launch_[depth_param_] : launch_[column_count_],
                      !shape_.transpose_b};
      b = launch_[scratch_];
      b_at = e_.add(base, launch_[panel_at_]);
      auto pack = is_quads_ ? emit_pack_quad_panel : emit_pack_panel;
      pack(e_, context_.kernels().target(), view, first, columns, launch_[depth_param_], b, b_at);
    }
    epilogue_.enter(e_, launch_, at);
    BlockOperands operands{.tile = tile,
                           .format = RowFormat::kRows,
                           .a = launch_[scratch_],
                           .a_at = e_.add(base, launch_[rows_at_]),
                           .b = b,
                           .b_at = b_at,
                           .scratch = launch_[scratch_],
                           .scratch_at = base,
                           .rows = launch_[row_count_],
                           .tiles = launch_[tiles_],
                           .tiles_per_block = launch_[tiles_per_block_],
                           .block = block,
                           .depth = launch_[step_count_],
                           .depth_blocks = launch_[depth_blocks_],
                           .first_row = e_.index(0),
                           .first_column = first,
                           .columns = columns};
    emit_block(e_, context_.kernels().target(), operands,
               [&](Value sums, Value row, Value column, int64_t lanes, Value mask) {
                 epilogue_.emit(e_, launch_, sums, row, column, lanes, mask);
               });
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  graph::MatMulOp op_;
  MatMulShape shape_;
  bool is_quads_;
  DimExpr steps_;
  Epilogue epilogue_;
  mlir::OpBuilder builder_;
  Emitter e_;
  Launch launch_;

  bool is_packed_ = false;
  Launch::Buffer a_, b_, scratch_;
  std::optional<BatchCoordinates> batch_;
  Launch::Param rows_at_, panel_at_, row_count_, column_count_, depth_param_, step_count_,
      depth_blocks_, tiles_, tiles_per_block_, block_count_, panels_;
};

}  // namespace

bool is_byte_matmul(const FusedContraction& fused) {
  auto op = mlir::dyn_cast<graph::MatMulOp>(fused.contraction);
  auto has = [](Value value, DType dtype) {
    return mlir::cast<graph::TensorType>(value.getType()).getDtype() == dtype;
  };
  return op && has(op.getA(), DType::kU8) && has(op.getB(), DType::kI8) && !op.getTransposeA() &&
         !op.getTransposeB();
}

void lower_matmul(const FusedContraction& fused, LoweringContext& context) {
  MatMul(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels

// f32 image convolutions: for each image and group, out[rows, positions] = w[rows, depth] *
// unfolded[depth, positions], where depth = kernel * channels. Weights are packed at compile time,
// or by a launch before this one; a panel of 32 positions is unfolded into scratch just before it
// is used, so the unfolded image never exists as a whole.
//
// Grid: images x groups x panels x row blocks, row blocks innermost, so that a worker unfolds a
// panel once for all the rows it multiplies with.
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/matmul/row_blocks.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/convolution/conv_shape.h"
#include "compiler/kernels/convolution/convolution.h"
#include "compiler/kernels/convolution/unfold.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;
using mlir::Value;

class ImageConv {
 public:
  ImageConv(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(mlir::cast<graph::ConvOp>(fused.contraction)),
        shape_(op_),
        epilogue_(fused, fusion::output_axes(op_), op_.getBias()),
        builder_(op_.getContext()),
        e_(builder_),
        launch_(context, builder_) {}

  void lower() {
    auto w = mlir::cast<TensorType>(op_.getW().getType());
    int64_t group_rows = *w.getDim(0).as_constant() / shape_.groups;
    int64_t channels = *w.getDim(1).as_constant();
    int64_t kernel = *(shape_.kernel[0] * shape_.kernel[1]).as_constant();
    RowBlocks blocks(group_rows);
    DimExpr depth = kernel * channels, panels = ceildiv(shape_.positions(), kPanelColumns);
    x_ = launch_.operand(context_.value_of(fused_.outer(op_.getX())), DType::kF32);
    Value weights = fused_.outer(op_.getW());
    mlir::ElementsAttr constant = context_.constant_of(weights);
    w_ = launch_.operand(
        constant ? packed_rows(context_, constant, shape_.groups, group_rows, channels, kernel)
                 : pack_rows(context_, context_.value_of(weights), shape_.groups, group_rows,
                             channels, kernel),
        DType::kF32);
    epilogue_.declare(launch_, context_);
    DimExpr tile_floats = blocks.block_rows() * DimExpr(kPanelColumns);
    scratch_ = launch_.scratch(tile_floats + depth * DimExpr(kPanelColumns));
    panel_at_ = launch_.param(tile_floats);
    channels_ = launch_.param(channels);
    groups_ = launch_.param(shape_.groups);
    declare_unfold();
    rows_ = launch_.param(group_rows);
    depth_ = launch_.param(depth);
    depth_blocks_ = launch_.param(depth_blocks(depth));
    tiles_ = launch_.param(blocks.tiles);
    tiles_per_block_ = launch_.param(blocks.tiles_per_block);
    block_count_ = launch_.param(blocks.blocks);
    panels_ = launch_.param(panels);
    mlir::func::FuncOp tile = tile_function(context_.kernels(), RowFormat::kInterleaved);
    launch_.begin_body();
    emit_items(tile);
    DimExpr grid = shape_.images * DimExpr(shape_.groups) * panels * blocks.blocks;
    launch_.finish("conv", grid, item_grain(min(group_rows, blocks.block_rows()), depth));
  }

 private:
  void declare_unfold() {
    for (int64_t axis = 0; axis < 2; ++axis) {
      kernel_[axis] = launch_.param(shape_.kernel[axis]);
      strides_[axis] = launch_.param(shape_.strides[axis]);
      pads_[axis] = launch_.param(shape_.pads[axis]);
      dilations_[axis] = launch_.param(shape_.dilations[axis]);
    }
    height_ = launch_.param(shape_.height);
    width_ = launch_.param(shape_.width);
    out_width_ = launch_.param(shape_.out_width);
    positions_ = launch_.param(shape_.positions());
  }

  void emit_items(mlir::func::FuncOp tile) {
    Value base = launch_.scratch_start(e_, scratch_);
    Unfold unfold(e_, context_.kernels().target());
    e_.fold(launch_.begin(), launch_.end(), 1, e_.index(-1),
            [&](Value item, mlir::ValueRange carried) {
              Value unfolded = e_.div(item, launch_[block_count_]);
              Value block = e_.rem(item, launch_[block_count_]);
              Value panel = e_.rem(unfolded, launch_[panels_]);
              Value plane = e_.div(unfolded, launch_[panels_]);  // image, group
              e_.when(
                  e_.equal(unfolded, carried[0]), [] {},
                  [&] { emit_unfold(unfold, plane, panel, base); });
              emit_item(tile, plane, panel, block, base);
              return Emitter::Values{unfolded};
            });
  }

  void emit_unfold(Unfold& unfold, Value plane, Value panel, Value base) {
    Value channels = launch_[channels_];
    Value area = e_.mul(launch_[height_], launch_[width_]);
    Unfold::Image image{.buffer = launch_[x_],
                        .at = e_.mul(e_.mul(plane, channels), area),
                        .channels = channels,
                        .height = launch_[height_],
                        .width = launch_[width_],
                        .out_width = launch_[out_width_],
                        .positions = launch_[positions_]};
    for (int64_t axis = 0; axis < 2; ++axis) {
      image.kernel[axis] = launch_[kernel_[axis]];
      image.strides[axis] = launch_[strides_[axis]];
      image.pads[axis] = launch_[pads_[axis]];
      image.dilations[axis] = launch_[dilations_[axis]];
    }
    unfold.emit(image, e_.mul(panel, kPanelColumns), launch_[scratch_],
                e_.add(base, launch_[panel_at_]));
  }

  void emit_item(mlir::func::FuncOp tile, Value plane, Value panel, Value block, Value base) {
    Value image = e_.div(plane, launch_[groups_]), group = e_.rem(plane, launch_[groups_]);
    Value first = e_.mul(panel, kPanelColumns);
    Value group_floats = e_.mul(e_.mul(launch_[tiles_], launch_[depth_]), kTileRows);
    epilogue_.enter(e_, launch_, image);
    BlockOperands operands{
        .tile = tile,
        .format = RowFormat::kInterleaved,
        .a = launch_[w_],
        .a_at = e_.mul(group, group_floats),
        .b = launch_[scratch_],
        .b_at = e_.add(base, launch_[panel_at_]),
        .scratch = launch_[scratch_],
        .scratch_at = base,
        .rows = launch_[rows_],
        .tiles = launch_[tiles_],
        .tiles_per_block = launch_[tiles_per_block_],
        .block = block,
        .depth = launch_[depth_],
        .depth_blocks = launch_[depth_blocks_],
        .first_row = e_.mul(group, launch_[rows_]),
        .first_column = first,
        .columns = e_.min(e_.sub(launch_[positions_], first), e_.index(kPanelColumns))};
    emit_block(e_, context_.kernels().target(), operands,
               [&](Value sums, Value row, Value column, int64_t lanes, Value mask) {
                 epilogue_.emit(e_, launch_, sums, row, column, lanes, mask);
               });
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  graph::ConvOp op_;
  ConvShape shape_;
  Epilogue epilogue_;
  mlir::OpBuilder builder_;
  Emitter e_;
  Launch launch_;

  Launch::Buffer x_, w_, scratch_;
  Launch::Param panel_at_, channels_, groups_, kernel_[2], strides_[2], pads_[2], dilations_[2],
      height_, width_, out_width_, positions_, rows_, depth_, depth_blocks_, tiles_,
      tiles_per_block_, block_count_, panels_;
};

}  // namespace

bool is_image_conv(const FusedContraction& fused) {
  auto op = mlir::dyn_cast<graph::ConvOp>(fused.contraction);
  if (!op) return false;
  int64_t rank = mlir::cast<TensorType>(op.getX().getType()).getRank();
  return (rank == 3 || rank == 4) && mlir::cast<TensorType>(op.getW().getType()).isStatic();
}

void lower_image_conv(const FusedContraction& fused, LoweringContext& context) {
  ImageConv(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels

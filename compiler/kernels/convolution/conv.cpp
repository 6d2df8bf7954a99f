// f32 convolutions of images as matrix products. For each image and group:
//   out[rows, positions] = w[rows, depth] * unfolded[depth, positions]
// Rows are output channels, and depth = kernel positions * input channels of a group. Weights are
// packed at compile time if they are constant, otherwise by an earlier launch. A work item unfolds
// a few panels of 32 positions into scratch memory immediately before their use, so the whole
// unfolded image is never stored (im2col by panels). The elements of adjacent panels are on the
// same pages, and of the same channel.
//
// Grid: images x groups x panel groups x row blocks. The row blocks are innermost, so that a worker
// unfolds panels once for all the rows that it multiplies.
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"
#include "compiler/kernels/convolution/conv_shape.h"
#include "compiler/kernels/convolution/convolution.h"
#include "compiler/kernels/convolution/unfold.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

// The panels of an item fit in L2 with the tiles that they are multiplied with.
int64_t panels_per_item(int64_t depth) {
  constexpr int64_t kMostPanels = 4, kMostElements = 1 << 16;
  const int64_t elements = std::clamp<int64_t>(depth, 1, kBlockDepth) * kPanelColumns;
  return std::clamp<int64_t>(kMostElements / elements, 1, kMostPanels);
}

class ImageConv {
 public:
  ImageConv(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(mlir::cast<graph::ConvOp>(fused.contraction)),
        shape_(op_),
        epilogue_(fused, fusion::output_axes(op_), op_.getBias()),
        k_(context, op_, "conv") {}

  llvm::LogicalResult lower() {
    auto w = mlir::cast<TensorType>(op_.getW().getType());
    int64_t group_rows = *w.getDim(0).as_constant() / shape_.groups;
    int64_t channels = *w.getDim(1).as_constant();
    int64_t kernel = *(shape_.kernel[0] * shape_.kernel[1]).as_constant();
    DimExpr depth = kernel * channels;
    most_panels_ = panels_per_item(kernel * channels);
    RowBlocks blocks(group_rows, min(kBlockTiles, tiles_per_item(depth, most_panels_)));
    tile_ = tile_function(context_.kernels(), RowFormat::kInterleaved, TileElement::kF32,
                          blocks.heights(), ends_in_narrow_panel());
    DimExpr panel_groups = ceildiv(shape_.positions(), most_panels_ * kPanelColumns);
    x_ = k_.operand(fused_.outer(op_.getX()), Elements::kNumbers);
    mlir::Value weights = fused_.outer(op_.getW());
    w_ =
        k_.operand(packs_constant(context_, weights, group_rows % kTileRows != 0)
                       ? packed_rows(context_, weights, shape_.groups, group_rows, channels, kernel)
                       : pack_rows(context_, op_, context_.value_of(weights), shape_.groups,
                                   group_rows, channels, kernel),
                   DType::kF32, Elements::kNumbers);
    epilogue_.declare(k_);
    // Per panel: the sums, and the unfolded elements.
    DimExpr sums = blocks.block_rows() * DimExpr(kPanelColumns);
    DimExpr panels = min(ceildiv(shape_.positions(), kPanelColumns), most_panels_);
    scratch_ = k_.scratch(panels * (sums + depth * DimExpr(kPanelColumns)), DType::kF32);
    sums_ = k_.param(sums);
    panel_at_ = k_.param(panels * sums);
    channels_ = k_.param(channels);
    groups_ = k_.param(shape_.groups);
    declare_unfold();
    rows_ = k_.param(group_rows);
    depth_ = k_.param(depth);
    depth_blocks_ = k_.param(depth_blocks(depth));
    tiles_ = k_.param(blocks.tiles);
    tiles_per_block_ = k_.param(blocks.tiles_per_block);
    block_count_ = k_.param(blocks.blocks);
    panel_groups_ = k_.param(panel_groups);
    emit_items();
    DimExpr grid = shape_.images * DimExpr(shape_.groups) * panel_groups * blocks.blocks;
    return k_.launch(grid, item_grain(blocks.block_rows(), depth, most_panels_));
  }

 private:
  // Whether the last panel of an image can have few columns.
  bool ends_in_narrow_panel() const {
    const std::optional<int64_t> positions = shape_.positions().as_constant();
    return !positions || *positions % kPanelColumns != 0;
  }

  void declare_unfold() {
    for (int64_t axis = 0; axis < 2; ++axis) {
      kernel_[axis] = k_.param(shape_.kernel[axis]);
      pads_[axis] = k_.param(shape_.pads[axis]);
      dilations_[axis] = k_.param(shape_.dilations[axis]);
    }
    height_ = k_.param(shape_.height);
    width_ = k_.param(shape_.width);
    out_width_ = k_.param(shape_.out_width);
    positions_ = k_.param(shape_.positions());
  }

  void emit_items() {
    // Constructed outside the loop: it emits an alloca, which in a loop would grow the stack with
    // each iteration.
    Unfold unfold(k_);
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      Term unfolded = quotient(item, block_count_);
      Term block = remainder(item, block_count_);
      Term first = remainder(unfolded, panel_groups_) * (most_panels_ * kPanelColumns);
      Term columns = min(positions_ - first, most_panels_ * kPanelColumns);
      Term plane = quotient(unfolded, panel_groups_);  // image * groups + group
      k_.when(k_.items_done(item, unfolded * block_count_) == 0,
              [&] { emit_unfold(unfold, plane, first, columns); });
      emit_item(plane, first, columns, block);
    });
  }

  // Whether the unfolded image is the image.
  bool is_pointwise() const {
    for (int64_t axis = 0; axis < 2; ++axis)
      if (!shape_.kernel[axis].is_constant(1) || shape_.strides[axis] != 1 ||
          shape_.pads[axis] != 0)
        return false;
    return shape_.height == shape_.out_height && shape_.width == shape_.out_width;
  }

  Term panel_start(Term panel) {
    return scratch_.start + panel_at_ + panel * (depth_ * kPanelColumns);
  }

  void emit_unfold(Unfold& unfold, Term plane, Term first, Term columns) {
    if (is_pointwise()) return emit_copy(plane, first, columns);
    Term channels = channels_;
    Term area = height_ * width_;
    Unfold::Image image{.buffer = x_,
                        // The channels of a group are adjacent, so those of (image, group) begin
                        // at channel plane * channels.
                        .at = plane * channels * area,
                        .channels = channels,
                        .height = height_,
                        .width = width_,
                        .out_width = out_width_,
                        .positions = positions_};
    for (int64_t axis = 0; axis < 2; ++axis) {
      image.kernel[axis] = kernel_[axis];
      image.strides[axis] = shape_.strides[axis];
      image.pads[axis] = pads_[axis];
      image.dilations[axis] = dilations_[axis];
    }
    k_.loop(k_.index(0), ceil_quotient(columns, k_.index(kPanelColumns)), 1, [&](Term panel) {
      unfold.emit(image, first + panel * kPanelColumns, scratch_.buffer, panel_start(panel));
    });
  }

  // Copies `columns` elements of each channel to the panels.
  void emit_copy(Term plane, Term first, Term columns) {
    const int64_t lanes = k_.lanes(DType::kF32);
    Term start = plane * channels_ * positions_ + first;
    k_.loop(k_.index(0), channels_, 1, [&](Term channel) {
      Term from = start + channel * positions_,
           to = panel_start(k_.index(0)) + channel * kPanelColumns;
      k_.loop(k_.index(0), columns, kPanelColumns, [&](Term column) {
        Term panel = to + column * depth_;
        for (int64_t j = 0; j < kPanelColumns; j += lanes) {
          Term left = columns - column - j;
          k_.when(
              lanes <= left,
              [&] { k_.store(scratch_.buffer, panel + j, k_.load(x_, from + column + j, lanes)); },
              [&] {
                k_.store(scratch_.buffer, panel + j,
                         k_.load(x_, from + column + j, lanes, k_.mask(max(left, 0), lanes)));
              });
        }
      });
    });
  }

  void emit_item(Term plane, Term first, Term columns, Term block) {
    Term image = quotient(plane, groups_), group = remainder(plane, groups_);
    Term group_floats = tiles_ * depth_ * kTileRows;
    Term first_tile = block * tiles_per_block_;
    epilogue_.enter(k_, image);
    BlockOperands operands{
        .tile = tile_,
        .a = w_,
        .a_at = [&](Term tile, Term,
                    Term k) { return group * group_floats + (tile * depth_ + k) * kTileRows; },
        .group_rows = k_.index(0),  // not used for interleaved rows
        .b = scratch_.buffer,
        .b_at = panel_start(k_.index(0)),
        .scratch = scratch_.buffer,
        .scratch_at = scratch_.start,
        .panels = ceil_quotient(columns, k_.index(kPanelColumns)),
        .scratch_size = sums_,
        .rows = rows_,
        .tiles = tiles_,
        .first_tile = first_tile,
        .last_tile = min(first_tile + tiles_per_block_, tiles_),
        .depth = depth_,
        .depth_blocks = depth_blocks_,
        // Rows of the product are the output channels of one group. Rows of the epilogue are the
        // output channels of all groups.
        .first_row = group * rows_,
        .first_column = first,
        .columns = columns};
    emit_block(k_, operands, [&](Term sums, Term row, Term column, int64_t lanes, Term mask) {
      epilogue_.emit(k_, sums, row, column, lanes, mask);
    });
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  graph::ConvOp op_;
  ConvShape shape_;
  mlir::func::FuncOp tile_;
  Epilogue epilogue_;
  KernelBuilder k_;

  Buffer x_, w_;
  Scratch scratch_;
  int64_t most_panels_ = 1;  // per item
  Term sums_, panel_at_, channels_, groups_, kernel_[2], pads_[2], dilations_[2], height_, width_,
      out_width_, positions_, rows_, depth_, depth_blocks_, tiles_, tiles_per_block_, block_count_,
      panel_groups_;
};

}  // namespace

bool is_image_conv(const FusedContraction& fused) {
  auto op = mlir::dyn_cast<graph::ConvOp>(fused.contraction);
  if (!op) return false;
  int64_t rank = mlir::cast<TensorType>(op.getX().getType()).getRank();
  return (rank == 3 || rank == 4) && mlir::cast<TensorType>(op.getW().getType()).isStatic();
}

llvm::LogicalResult lower_image_conv(const FusedContraction& fused, LoweringContext& context) {
  return ImageConv(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels

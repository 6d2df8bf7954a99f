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

class ImageConv {
 public:
  ImageConv(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(mlir::cast<graph::ConvOp>(fused.contraction)),
        shape_(op_),
        weights_(op_.getW().getType(), shape_.groups),
        schedule_(schedule::choose_contraction({.kind = schedule::ContractionKind::kConvolution,
                                                .rows = weights_.rows,
                                                .columns = shape_.positions(),
                                                .depth = weights_.depth()},
                                               context.kernels().core())),
        epilogue_(fused, op_.getBias()),
        k_(context, op_, "conv"),
        tile_(tile_function(context.kernels(), schedule_)),
        o_(declare()) {}

  llvm::LogicalResult lower() {
    emit_items();
    const DimExpr grid =
        shape_.images * DimExpr(shape_.groups) * panel_groups() * schedule_.blocks.blocks;
    return k_.launch(grid, schedule_.grain);
  }

 private:
  // The weights of a group.
  struct Weights {
    Weights(mlir::Type type, int64_t groups) {
      const auto w = mlir::cast<TensorType>(type);
      rows = *w.getDim(0).as_constant() / groups;
      channels = *w.getDim(1).as_constant();
      for (const DimExpr dim : w.getShape().drop_front(2)) kernel *= *dim.as_constant();
    }
    int64_t depth() const { return kernel * channels; }

    int64_t rows, channels, kernel = 1;
  };

  struct Operands {
    Buffer x, w;
    Scratch scratch;
    Term sums, panel_at, channels, groups, kernel[2], pads[2], dilations[2], height, width,
        out_width, positions, rows, depth, depth_blocks, tiles, tiles_per_block, blocks,
        panel_groups;
  };

  int64_t item_columns() const { return schedule_.panels * kPanelColumns; }
  DimExpr panel_groups() const { return ceildiv(shape_.positions(), item_columns()); }

  Operands declare() {
    const schedule::RowBlocks& blocks = schedule_.blocks;
    const auto [rows, channels, kernel] = weights_;
    Operands o;
    o.x = k_.operand(fused_.outer(op_.getX()), Elements::kNumbers);
    const mlir::Value w = fused_.outer(op_.getW());
    o.w = k_.operand(
        packs_constant(context_, w, rows % kTileRows != 0)
            ? packed_rows(context_, w, shape_.groups, rows, channels, kernel)
            : pack_rows(context_, op_, context_.value_of(w), shape_.groups, rows, channels, kernel),
        DType::kF32, Elements::kNumbers);
    epilogue_.declare(k_);
    // Per panel: the sums, and the unfolded elements.
    const DimExpr sums = blocks.block_rows() * DimExpr(kPanelColumns);
    const DimExpr panels = min(ceildiv(shape_.positions(), kPanelColumns), schedule_.panels);
    o.scratch =
        k_.scratch(panels * (sums + DimExpr(weights_.depth() * kPanelColumns)), DType::kF32);
    o.sums = k_.param(sums);
    o.panel_at = k_.param(panels * sums);
    o.channels = k_.param(channels);
    o.groups = k_.param(shape_.groups);
    for (int64_t axis = 0; axis < 2; ++axis) {
      o.kernel[axis] = k_.param(shape_.kernel[axis]);
      o.pads[axis] = k_.param(shape_.pads[axis]);
      o.dilations[axis] = k_.param(shape_.dilations[axis]);
    }
    o.height = k_.param(shape_.height);
    o.width = k_.param(shape_.width);
    o.out_width = k_.param(shape_.out_width);
    o.positions = k_.param(shape_.positions());
    o.rows = k_.param(rows);
    o.depth = k_.param(weights_.depth());
    o.depth_blocks = k_.param(schedule_.depth_blocks);
    o.tiles = k_.param(blocks.tiles);
    o.tiles_per_block = k_.param(blocks.tiles_per_block);
    o.blocks = k_.param(blocks.blocks);
    o.panel_groups = k_.param(panel_groups());
    return o;
  }

  void emit_items() {
    // Constructed outside the loop: it emits an alloca, which in a loop would grow the stack with
    // each iteration.
    Unfold unfold(k_);
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      Term unfolded = quotient(item, o_.blocks);
      Term block = remainder(item, o_.blocks);
      Term first = remainder(unfolded, o_.panel_groups) * item_columns();
      Term columns = min(o_.positions - first, item_columns());
      Term plane = quotient(unfolded, o_.panel_groups);  // image * groups + group
      k_.when(k_.items_done(item, unfolded * o_.blocks) == 0,
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
    return o_.scratch.start + o_.panel_at + panel * (o_.depth * kPanelColumns);
  }

  void emit_unfold(Unfold& unfold, Term plane, Term first, Term columns) {
    if (is_pointwise()) return emit_copy(plane, first, columns);
    Term channels = o_.channels;
    Term area = o_.height * o_.width;
    Unfold::Image image{.buffer = o_.x,
                        // The channels of a group are adjacent, so those of (image, group) begin
                        // at channel plane * channels.
                        .at = plane * channels * area,
                        .channels = channels,
                        .height = o_.height,
                        .width = o_.width,
                        .out_width = o_.out_width,
                        .positions = o_.positions};
    for (int64_t axis = 0; axis < 2; ++axis) {
      image.kernel[axis] = o_.kernel[axis];
      image.strides[axis] = shape_.strides[axis];
      image.pads[axis] = o_.pads[axis];
      image.dilations[axis] = o_.dilations[axis];
    }
    k_.loop(k_.index(0), ceil_quotient(columns, k_.index(kPanelColumns)), 1, [&](Term panel) {
      unfold.emit(image, first + panel * kPanelColumns, o_.scratch.buffer, panel_start(panel));
    });
  }

  // Copies `columns` elements of each channel to the panels.
  void emit_copy(Term plane, Term first, Term columns) {
    const int64_t lanes = k_.lanes(DType::kF32);
    Term start = plane * o_.channels * o_.positions + first;
    k_.loop(k_.index(0), o_.channels, 1, [&](Term channel) {
      Term from = start + channel * o_.positions,
           to = panel_start(k_.index(0)) + channel * kPanelColumns;
      k_.loop(k_.index(0), columns, kPanelColumns, [&](Term column) {
        Term panel = to + column * o_.depth;
        for (int64_t j = 0; j < kPanelColumns; j += lanes) {
          Term left = columns - column - j;
          k_.when(
              lanes <= left,
              [&] {
                k_.store(o_.scratch.buffer, panel + j, k_.load(o_.x, from + column + j, lanes));
              },
              [&] {
                k_.store(o_.scratch.buffer, panel + j,
                         k_.load(o_.x, from + column + j, lanes, k_.mask(max(left, 0), lanes)));
              });
        }
      });
    });
  }

  void emit_item(Term plane, Term first, Term columns, Term block) {
    Term image = quotient(plane, o_.groups), group = remainder(plane, o_.groups);
    Term group_floats = o_.tiles * o_.depth * kTileRows;
    Term first_tile = block * o_.tiles_per_block;
    epilogue_.enter(k_, image);
    BlockOperands operands{
        .tile = tile_,
        .a = o_.w,
        .a_at = [&](Term tile, Term,
                    Term k) { return group * group_floats + (tile * o_.depth + k) * kTileRows; },
        .group_rows = k_.index(0),  // not used for interleaved rows
        .b = o_.scratch.buffer,
        .b_at = panel_start(k_.index(0)),
        .scratch = o_.scratch.buffer,
        .scratch_at = o_.scratch.start,
        .panels = ceil_quotient(columns, k_.index(kPanelColumns)),
        .scratch_size = o_.sums,
        .rows = o_.rows,
        .tiles = o_.tiles,
        .first_tile = first_tile,
        .last_tile = min(first_tile + o_.tiles_per_block, o_.tiles),
        .depth = o_.depth,
        .depth_blocks = o_.depth_blocks,
        // Rows of the product are the output channels of one group. Rows of the epilogue are the
        // output channels of all groups.
        .first_row = group * o_.rows,
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
  const Weights weights_;
  const schedule::ContractionSchedule schedule_;
  Epilogue epilogue_;
  KernelBuilder k_;
  const mlir::func::FuncOp tile_;
  const Operands o_;
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

// Convolutions of blocked images with windows of 3x3 elements as Winograd's F(4x4, 3x3): a block of
// 4x4 results takes 36 multiplications per input channel instead of 144 (Lavin and Gray, Fast
// Algorithms for Convolutional Neural Networks, 2016). Rounding errors are larger than those of the
// direct algorithm, so a convolution has this form only if its attribute permits it.
//
// A work item is some blocks of an image and one group of output channel blocks:
//   1. transform the inputs of each block, 6x6 pixels, to 36 coefficients per channel;
//   2. for each of the 36 positions, multiply the coefficients of all blocks by the transformed
//      weights: a convolution of single pixels (tile.h);
//   3. transform the 36 sums of each block to 4x4 results, and apply the epilogue.
//
// Grid: images x parts of an image x groups of channel blocks. The groups are innermost, so that a
// worker transforms the inputs of a part once for all groups that it computes.
#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/convolution/blocked/tile.h"
#include "compiler/kernels/convolution/convolution.h"
#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::kChannelBlock;
using graph::TensorType;

constexpr int64_t kResults = 4, kInputs = 6, kPositions = kInputs * kInputs;
// Coefficients and sums of a work item: they stay in L2.
constexpr int64_t kItemElements = 5 << 15;
// Elements between the coefficients of adjacent positions, in addition to their number: without
// them, the distance can be a power of 2, and the 36 stores of a block share a set of the cache.
constexpr int64_t kGap = 16;

class Winograd {
 public:
  Winograd(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(mlir::cast<graph::BlockedConvOp>(fused.contraction)),
        epilogue_(fused, fusion::output_axes(op_)),
        k_(context, op_, "winograd") {}

  llvm::LogicalResult lower() {
    const auto x = mlir::cast<TensorType>(op_.getX().getType());
    const auto w = mlir::cast<TensorType>(op_.getW().getType());
    const auto result = mlir::cast<TensorType>(op_.getResult().getType());
    channels_ = *w.getDim(1).as_constant();
    planes_ = *x.getDim(1).as_constant();
    const int64_t out_blocks = *result.getDim(1).as_constant();
    group_blocks_ = schedule::pointwise_blocks(out_blocks);
    const schedule::ConvTile tile = schedule::winograd_tile(k_.target(), group_blocks_);
    tile_blocks_ = tile.blocks;
    // Tiles of all blocks of a part: the last one also computes blocks that do not exist.
    tile_pixels_ = tile.pixels;
    const int64_t unit = schedule::winograd_unit(group_blocks_);

    const DimExpr rows = ceildiv(result.getDim(2), kResults),
                  columns = ceildiv(result.getDim(3), kResults);
    const int64_t of_block = kPositions * (planes_ + group_blocks_) * kChannelBlock;
    const int64_t most = std::max<int64_t>(kItemElements / of_block / unit, 1) * unit;
    position_steps_ = most * planes_ * group_blocks_ * kChannelBlock * kChannelBlock;
    const DimExpr blocks = max(rows * columns, 1);
    const DimExpr parts = ceildiv(blocks, most);
    const DimExpr part_blocks = ceildiv(blocks, parts);
    const DimExpr room = ceildiv(part_blocks, unit) * DimExpr(unit);

    x_ = k_.operand(fused_.outer(op_.getX()), Elements::kNumbers);
    w_ = k_.operand(packed_winograd(context_, fused_.outer(op_.getW()), group_blocks_), DType::kF32,
                    Elements::kNumbers);
    epilogue_.declare(k_);
    const DimExpr coefficients = room * DimExpr(planes_ * kChannelBlock) + kGap;
    const DimExpr sums = room * DimExpr(group_blocks_ * kChannelBlock) + kGap;
    scratch_ = k_.scratch(DimExpr(kPositions) * (coefficients + sums + kChannelBlock), DType::kF32);
    block_step_ = k_.param(room);
    position_step_ = k_.param(coefficients);
    sums_step_ = k_.param(sums);
    sums_at_ = scratch_.start + k_.param(DimExpr(kPositions) * coefficients);
    buffer_at_ = sums_at_ + sums_step_ * kPositions;
    height_ = k_.param(x.getDim(2));
    width_ = k_.param(x.getDim(3));
    out_height_ = k_.param(result.getDim(2));
    out_width_ = k_.param(result.getDim(3));
    columns_ = k_.param(columns);
    blocks_ = k_.param(rows * columns);
    parts_ = k_.param(parts);
    part_blocks_ = k_.param(part_blocks);
    groups_ = k_.param(out_blocks / group_blocks_);
    emit_items();
    return k_.launch(x.getDim(0) * parts * DimExpr(out_blocks / group_blocks_), 1);
  }

 private:
  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      const Term part = quotient(item, groups_), group = remainder(item, groups_);
      const Term image = quotient(part, parts_), first = remainder(part, parts_) * part_blocks_;
      const Term count = max(min(blocks_ - first, part_blocks_), 0);
      k_.when(k_.items_done(item, part * groups_) == 0, [&] { emit_inputs(image, first, count); });
      emit_products(group, count);
      emit_results(image, group, first, count);
    });
  }

  // Emits `body` for each block of a part, with its first result.
  void each_block(Term first, Term count,
                  llvm::function_ref<void(Term block, Term y, Term x)> body) {
    k_.loop(k_.index(0), count, 1, [&](Term block) {
      const Term number = first + block;
      body(block, quotient(number, columns_) * kResults, remainder(number, columns_) * kResults);
    });
  }

  // --- 1. Inputs. ---

  void emit_inputs(Term image, Term first, Term count) {
    each_block(first, count, [&](Term block, Term y, Term x) {
      const Term top = y - op_.getPads()[0], left = x - op_.getPads()[1];
      const Term is_inside =
          (0 <= top) & (top + kInputs <= height_) & (0 <= left) & (left + kInputs <= width_);
      const auto emit = [&](bool has_border) {
        k_.loop(k_.index(0), k_.index(planes_), 1, [&](Term plane) {
          const Term from = (image * planes_ + plane) * height_;
          emit_block(plane, from, top, left, has_border,
                     scratch_.start + (plane * block_step_ + block) * kChannelBlock);
        });
      };
      k_.when(is_inside, [&] { emit(false); }, [&] { emit(true); });
    });
  }

  // Transforms the channels of one plane of a block. `from` is the plane's first row in x.
  void emit_block(Term plane, Term from, Term top, Term left, bool has_border, Term to) {
    const int64_t lanes = k_.lanes(DType::kF32);
    for (int64_t lane = 0; lane < kChannelBlock; lane += lanes) {
      Term channels = k_.index(lanes);
      // The channels after the last one can be any number, also NaN: they are replaced by 0.
      if (channels_ % kChannelBlock != 0)
        channels = max(min(channels_ - plane * kChannelBlock - lane, lanes), 0);
      // The columns of the block, then its rows.
      for (int64_t j = 0; j < kInputs; ++j) {
        Term column[kInputs];
        for (int64_t i = 0; i < kInputs; ++i) {
          const Term y = top + i, x = left + j;
          const Term at = ((from + y) * width_ + x) * kChannelBlock + lane;
          Term mask;
          if (has_border) {
            const Term exists = (0 <= y) & (y < height_) & (0 <= x) & (x < width_);
            mask = k_.mask(select(exists, channels, k_.index(0)), lanes);
          } else if (channels_ % kChannelBlock != 0) {
            mask = k_.mask(channels, lanes);
          }
          column[i] = k_.load(x_, at, lanes, mask);
        }
        transform_inputs(column);
        for (int64_t i = 0; i < kInputs; ++i)
          k_.store(scratch_.buffer, buffer_at_ + (i * kInputs + j) * kChannelBlock, column[i]);
      }
      for (int64_t i = 0; i < kInputs; ++i) {
        Term row[kInputs];
        for (int64_t j = 0; j < kInputs; ++j)
          row[j] = k_.load(scratch_.buffer, buffer_at_ + (i * kInputs + j) * kChannelBlock, lanes);
        transform_inputs(row);
        for (int64_t j = 0; j < kInputs; ++j)
          k_.store(scratch_.buffer, to + position_step_ * (i * kInputs + j) + lane, row[j]);
      }
    }
  }

  // B^T d.
  static void transform_inputs(Term (&d)[kInputs]) {
    const auto [a, b] = kWinogradPoints;
    const double product = a * a * b * b, sum = a * a + b * b;
    const Term even_a = d[4] - d[2] * (b * b), odd_a = (d[3] - d[1] * (b * b)) * a;
    const Term even_b = d[4] - d[2] * (a * a), odd_b = (d[3] - d[1] * (a * a)) * b;
    d[0] = d[0] * product - d[2] * sum + d[4];
    d[5] = d[1] * product - d[3] * sum + d[5];
    d[1] = even_a + odd_a;
    d[2] = even_a - odd_a;
    d[3] = even_b + odd_b;
    d[4] = even_b - odd_b;
  }

  // --- 2. Products. ---

  void emit_products(Term group, Term count) {
    const int64_t plane_weights = kChannelBlock * group_blocks_ * kChannelBlock;
    const int64_t position_weights = planes_ * plane_weights;
    BlockedTile tile{.columns = tile_pixels_,
                     .blocks = tile_blocks_,
                     .group_blocks = group_blocks_,
                     .pixel_step = kChannelBlock,
                     .steps = kChannelBlock,
                     .weight_steps = kChannelBlock};
    // About 0.2 ms between two checks of interrupts.
    constexpr int64_t kStepsPerCheck = 1 << 23;
    k_.long_loop(
        k_.index(0), k_.index(kPositions), 1,
        std::max<int64_t>(kStepsPerCheck / position_steps_, 1), {}, [&](Term position, auto) {
          k_.loop(k_.index(0), count, tile_pixels_, [&](Term block) {
            for (int64_t b = 0; b < group_blocks_; b += tile_blocks_) {
              const BlockedOperands o{
                  .x = scratch_.buffer,
                  .x_at = scratch_.start + position * position_step_ + block * kChannelBlock,
                  .plane = block_step_ * kChannelBlock,
                  .tap_row = k_.index(0),
                  .tap = k_.index(0),
                  .pixel_row = k_.index(0),
                  .w = w_,
                  .w_at = (group * kPositions + position) * position_weights + b * kChannelBlock,
                  .sums = scratch_.buffer,
                  .sums_at = sums_at_ + position * sums_step_ +
                             (block * group_blocks_ + b) * kChannelBlock,
                  .planes = k_.index(planes_),
                  .tap_rows = k_.index(1),
                  .taps = k_.index(1),
                  .weight_rows = k_.index(1),
                  .rest_planes = k_.index(0),
                  .accumulate = k_.boolean(false)};
              call_blocked_tile(k_, context_.kernels(), tile, o, nullptr);
            }
          });
          return Terms{};
        });
  }

  // --- 3. Results. ---

  void emit_results(Term image, Term group, Term first, Term count) {
    const int64_t lanes = k_.lanes(DType::kF32);
    for (int64_t b = 0; b < group_blocks_; ++b) {
      epilogue_.enter(k_, {image, group * group_blocks_ + b});
      each_block(first, count, [&](Term block, Term y, Term x) {
        const Term from = sums_at_ + (block * group_blocks_ + b) * kChannelBlock;
        for (int64_t lane = 0; lane < kChannelBlock; lane += lanes) {
          emit_transform(from + lane);
          const Term rows = min(out_height_ - y, kResults), columns = min(out_width_ - x, kResults);
          k_.loop(k_.index(0), rows, 1, [&](Term i) {
            k_.loop(k_.index(0), columns, 1, [&](Term j) {
              const Term sum =
                  k_.load(scratch_.buffer, buffer_at_ + (i * kInputs + j) * kChannelBlock, lanes);
              epilogue_.emit(k_, sum, (y + i) * out_width_ + (x + j), k_.index(lane), lanes, {});
            });
          });
        }
      });
    }
  }

  // Transforms the sums of a block to rows of results: [4][6][16], of which 4 columns are used.
  void emit_transform(Term from) {
    const int64_t lanes = k_.lanes(DType::kF32);
    const auto at = [&](int64_t i, int64_t j) {
      return buffer_at_ + (i * kInputs + j) * kChannelBlock;
    };
    for (int64_t j = 0; j < kInputs; ++j) {
      Term column[kInputs];
      for (int64_t i = 0; i < kInputs; ++i)
        column[i] = k_.load(scratch_.buffer, from + sums_step_ * (i * kInputs + j), lanes);
      transform_sums(column);
      for (int64_t i = 0; i < kResults; ++i) k_.store(scratch_.buffer, at(i, j), column[i]);
    }
    for (int64_t i = 0; i < kResults; ++i) {
      Term row[kInputs];
      for (int64_t j = 0; j < kInputs; ++j) row[j] = k_.load(scratch_.buffer, at(i, j), lanes);
      transform_sums(row);
      for (int64_t j = 0; j < kResults; ++j) k_.store(scratch_.buffer, at(i, j), row[j]);
    }
  }

  // A^T m, in the first 4 elements.
  static void transform_sums(Term (&m)[kInputs]) {
    const auto [a, b] = kWinogradPoints;
    const Term even_a = m[1] + m[2], odd_a = m[1] - m[2];
    const Term even_b = m[3] + m[4], odd_b = m[3] - m[4];
    m[0] = m[0] + even_a + even_b;
    m[1] = odd_a * a + odd_b * b;
    m[2] = even_a * (a * a) + even_b * (b * b);
    m[3] = odd_a * (a * a * a) + odd_b * (b * b * b) + m[5];
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  graph::BlockedConvOp op_;
  Epilogue epilogue_;
  KernelBuilder k_;

  int64_t position_steps_ = 0;  // multiply-adds of a position
  int64_t channels_ = 0, planes_ = 0, group_blocks_ = 1, tile_blocks_ = 1, tile_pixels_ = 1;
  Buffer x_, w_;
  Scratch scratch_;
  Term block_step_, position_step_, sums_step_, sums_at_, buffer_at_, height_, width_, out_height_,
      out_width_, columns_, blocks_, parts_, part_blocks_, groups_;
};

}  // namespace

bool is_winograd_conv(const FusedContraction& fused, LoweringContext& context) {
  auto op = mlir::dyn_cast<graph::BlockedConvOp>(fused.contraction);
  return op && op.getWinograd() && packs_constant(context, fused.outer(op.getW()), true);
}

llvm::LogicalResult lower_winograd_conv(const FusedContraction& fused, LoweringContext& context) {
  return Winograd(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels

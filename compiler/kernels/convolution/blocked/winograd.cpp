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
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/convolution/blocked/shape.h"
#include "compiler/kernels/convolution/blocked/tile.h"
#include "compiler/kernels/convolution/convolution.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::kChannelBlock;

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
        shape_(op_),
        schedule_(schedule::choose_conv(shape_.problem(/*is_computed=*/false),
                                        context.kernels().core(),
                                        {.algorithm = schedule::ConvAlgorithm::kWinograd})),
        tile_(schedule::winograd_tile(context.kernels().target(), group_blocks())),
        epilogue_(fused),
        k_(context, op_, "winograd"),
        o_(declare()) {}

  llvm::LogicalResult lower() {
    emit_items();
    return k_.launch(graph::type_of(shape_.x).getDim(0) * parts() * DimExpr(groups()), 1);
  }

 private:
  struct Operands {
    Buffer x, w;
    Scratch scratch;
    Term block_step, position_step, sums_step, sums_at, buffer_at, height, width, out_height,
        out_width, columns, blocks, parts, part_blocks, groups;
  };

  int64_t planes() const { return schedule_.planes; }
  int64_t group_blocks() const { return schedule_.form.group_blocks; }
  int64_t groups() const { return shape_.out_blocks / group_blocks(); }
  DimExpr blocks(int64_t axis) const { return ceildiv(shape_.axes[axis].result, kResults); }

  // The most blocks of a work item. The last tile of an item also computes blocks that do not
  // exist.
  int64_t most_blocks() const {
    const int64_t unit = schedule::winograd_unit(group_blocks());
    const int64_t of_block = kPositions * (planes() + group_blocks()) * kChannelBlock;
    return std::max<int64_t>(kItemElements / of_block / unit, 1) * unit;
  }
  DimExpr parts() const { return ceildiv(max(blocks(0) * blocks(1), 1), most_blocks()); }

  Operands declare() {
    Operands o;
    o.x = k_.operand(fused_.outer(shape_.x), Elements::kNumbers);
    o.w = k_.operand(packed_winograd(context_, fused_.outer(shape_.w), group_blocks()), DType::kF32,
                     Elements::kNumbers);
    epilogue_.declare(k_);
    const DimExpr part_blocks = ceildiv(max(blocks(0) * blocks(1), 1), parts());
    const DimExpr room = round_up(part_blocks, schedule::winograd_unit(group_blocks()));
    const DimExpr coefficients = room * DimExpr(planes() * kChannelBlock) + kGap;
    const DimExpr sums = room * DimExpr(group_blocks() * kChannelBlock) + kGap;
    o.scratch =
        k_.scratch(DimExpr(kPositions) * (coefficients + sums + kChannelBlock), DType::kF32);
    o.block_step = k_.param(room);
    o.position_step = k_.param(coefficients);
    o.sums_step = k_.param(sums);
    o.sums_at = o.scratch.start + k_.param(DimExpr(kPositions) * coefficients);
    o.buffer_at = o.sums_at + o.sums_step * kPositions;
    o.height = k_.param(shape_.axes[0].size);
    o.width = k_.param(shape_.axes[1].size);
    o.out_height = k_.param(shape_.axes[0].result);
    o.out_width = k_.param(shape_.axes[1].result);
    o.columns = k_.param(blocks(1));
    o.blocks = k_.param(blocks(0) * blocks(1));
    o.parts = k_.param(parts());
    o.part_blocks = k_.param(part_blocks);
    o.groups = k_.param(groups());
    return o;
  }

  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      const Term part = quotient(item, o_.groups), group = remainder(item, o_.groups);
      const Term image = quotient(part, o_.parts),
                 first = remainder(part, o_.parts) * o_.part_blocks;
      const Term count = max(min(o_.blocks - first, o_.part_blocks), 0);
      k_.when(k_.items_done(item, part * o_.groups) == 0,
              [&] { emit_inputs(image, first, count); });
      emit_products(group, count);
      emit_results(image, group, first, count);
    });
  }

  // Emits `body` for each block of a part, with its first result.
  void each_block(Term first, Term count,
                  llvm::function_ref<void(Term block, Term y, Term x)> body) {
    k_.loop(k_.index(0), count, 1, [&](Term block) {
      const Term number = first + block;
      body(block, quotient(number, o_.columns) * kResults,
           remainder(number, o_.columns) * kResults);
    });
  }

  // --- 1. Inputs. ---

  void emit_inputs(Term image, Term first, Term count) {
    each_block(first, count, [&](Term block, Term y, Term x) {
      const Term top = y - shape_.axes[0].pad, left = x - shape_.axes[1].pad;
      const Term is_inside =
          (0 <= top) & (top + kInputs <= o_.height) & (0 <= left) & (left + kInputs <= o_.width);
      const auto emit = [&](bool has_border) {
        k_.loop(k_.index(0), k_.index(planes()), 1, [&](Term plane) {
          const Term from = (image * planes() + plane) * o_.height;
          emit_block(plane, from, top, left, has_border,
                     o_.scratch.start + (plane * o_.block_step + block) * kChannelBlock);
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
      if (shape_.channels % kChannelBlock != 0)
        channels = max(min(shape_.channels - plane * kChannelBlock - lane, lanes), 0);
      // The columns of the block, then its rows.
      for (int64_t j = 0; j < kInputs; ++j) {
        Term column[kInputs];
        for (int64_t i = 0; i < kInputs; ++i) {
          const Term y = top + i, x = left + j;
          const Term at = ((from + y) * o_.width + x) * kChannelBlock + lane;
          Term mask;
          if (has_border) {
            const Term exists = (0 <= y) & (y < o_.height) & (0 <= x) & (x < o_.width);
            mask = k_.mask(select(exists, channels, k_.index(0)), lanes);
          } else if (shape_.channels % kChannelBlock != 0) {
            mask = k_.mask(channels, lanes);
          }
          column[i] = k_.load(o_.x, at, lanes, mask);
        }
        transform_inputs(column);
        for (int64_t i = 0; i < kInputs; ++i)
          k_.store(o_.scratch.buffer, o_.buffer_at + (i * kInputs + j) * kChannelBlock, column[i]);
      }
      for (int64_t i = 0; i < kInputs; ++i) {
        Term row[kInputs];
        for (int64_t j = 0; j < kInputs; ++j)
          row[j] =
              k_.load(o_.scratch.buffer, o_.buffer_at + (i * kInputs + j) * kChannelBlock, lanes);
        transform_inputs(row);
        for (int64_t j = 0; j < kInputs; ++j)
          k_.store(o_.scratch.buffer, to + o_.position_step * (i * kInputs + j) + lane, row[j]);
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
    const int64_t plane_weights = kChannelBlock * group_blocks() * kChannelBlock;
    const int64_t position_weights = planes() * plane_weights;
    BlockedTile tile{.columns = tile_.pixels,
                     .blocks = tile_.blocks,
                     .group_blocks = group_blocks(),
                     .pixel_step = kChannelBlock,
                     .steps = kChannelBlock,
                     .weight_steps = kChannelBlock};
    k_.loop(k_.index(0), k_.index(kPositions), 1, [&](Term position) {
      k_.loop(k_.index(0), count, tile_.pixels, [&](Term block) {
        for (int64_t b = 0; b < group_blocks(); b += tile_.blocks) {
          const BlockedOperands o{
              .x = o_.scratch.buffer,
              .x_at = o_.scratch.start + position * o_.position_step + block * kChannelBlock,
              .plane = o_.block_step * kChannelBlock,
              .tap_row = k_.index(0),
              .tap = k_.index(0),
              .pixel_row = k_.index(0),
              .w = o_.w,
              .w_at = (group * kPositions + position) * position_weights + b * kChannelBlock,
              .sums = o_.scratch.buffer,
              .sums_at = o_.sums_at + position * o_.sums_step +
                         (block * group_blocks() + b) * kChannelBlock,
              .planes = k_.index(planes()),
              .tap_rows = k_.index(1),
              .taps = k_.index(1),
              .weight_rows = k_.index(1),
              .rest_planes = k_.index(0),
              .accumulate = k_.boolean(false)};
          call_blocked_tile(k_, context_.kernels(), tile, o, nullptr);
        }
      });
    });
  }

  // --- 3. Results. ---

  void emit_results(Term image, Term group, Term first, Term count) {
    const int64_t lanes = k_.lanes(DType::kF32);
    for (int64_t b = 0; b < group_blocks(); ++b) {
      epilogue_.enter(k_, {image, group * group_blocks() + b});
      each_block(first, count, [&](Term block, Term y, Term x) {
        const Term from = o_.sums_at + (block * group_blocks() + b) * kChannelBlock;
        for (int64_t lane = 0; lane < kChannelBlock; lane += lanes) {
          emit_transform(from + lane);
          const Term rows = min(o_.out_height - y, kResults),
                     columns = min(o_.out_width - x, kResults);
          k_.loop(k_.index(0), rows, 1, [&](Term i) {
            k_.loop(k_.index(0), columns, 1, [&](Term j) {
              const Term sum = k_.load(o_.scratch.buffer,
                                       o_.buffer_at + (i * kInputs + j) * kChannelBlock, lanes);
              epilogue_.emit(k_, sum, (y + i) * o_.out_width + (x + j), k_.index(lane), lanes, {});
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
      return o_.buffer_at + (i * kInputs + j) * kChannelBlock;
    };
    for (int64_t j = 0; j < kInputs; ++j) {
      Term column[kInputs];
      for (int64_t i = 0; i < kInputs; ++i)
        column[i] = k_.load(o_.scratch.buffer, from + o_.sums_step * (i * kInputs + j), lanes);
      transform_sums(column);
      for (int64_t i = 0; i < kResults; ++i) k_.store(o_.scratch.buffer, at(i, j), column[i]);
    }
    for (int64_t i = 0; i < kResults; ++i) {
      Term row[kInputs];
      for (int64_t j = 0; j < kInputs; ++j) row[j] = k_.load(o_.scratch.buffer, at(i, j), lanes);
      transform_sums(row);
      for (int64_t j = 0; j < kResults; ++j) k_.store(o_.scratch.buffer, at(i, j), row[j]);
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
  const BlockedShape shape_;
  const schedule::ConvSchedule schedule_;
  const schedule::ConvTile tile_;
  Epilogue epilogue_;
  KernelBuilder k_;
  const Operands o_;
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

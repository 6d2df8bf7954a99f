// Emits convolutions of single pixels into scratch memory; see expansion.h.
#include "compiler/kernels/convolution/blocked/expansion.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"

namespace scopevm::compiler::kernels {

using graph::kChannelBlock;

Expansion::Expansion(KernelBuilder& k, const FusedContraction& fused)
    : k_(k),
      shape_(fused.contraction),
      epilogue_(fused),
      channels_(shape_.channels),
      planes_((channels_ + kChannelBlock - 1) / kChannelBlock),
      group_blocks_(schedule::pointwise_blocks(shape_.out_blocks)),
      tile_(schedule::conv_tile(k.target(), group_blocks_)) {
  x_ = k_.operand(fused.outer(shape_.x), Elements::kNumbers);
  w_ = k_.operand(
      packed_blocks(k_.context(), fused.contraction, fused.outer(shape_.w), DType::kF32,
                    {kChannelBlock, schedule::BlockGroups::of(shape_.out_blocks, group_blocks_)}),
      DType::kF32, Elements::kNumbers);
}

DimExpr Expansion::sums() const {
  return epilogue_.is_small() ? 0 : schedule::kMostTilePixels * group_blocks_ * kChannelBlock;
}

DimExpr Expansion::elements(DimExpr rows) const {
  return rows * shape_.axes[1].size * DimExpr(group_blocks_ * kChannelBlock) + sums();
}

void Expansion::declare(const Buffer& scratch, Term start, DimExpr rows) {
  const DimExpr plane = rows * shape_.axes[1].size * DimExpr(kChannelBlock);
  scratch_ = scratch;
  epilogue_.declare_in_scratch(k_, scratch, plane);
  sums_at_ = start;
  start_ = start + k_.param(sums());
  plane_ = k_.param(plane);
  width_ = k_.param(shape_.axes[1].size);
  pitch_ = width_ * kChannelBlock;
  x_pixels_ = k_.param(shape_.axes[0].size * shape_.axes[1].size);
}

// Adjacent tiles can overlap: an element that is computed twice has the same value.
void Expansion::emit(Term image, Term group, Term begin, Term end) {
  epilogue_.set_scratch_base(row_0(begin, group * -group_blocks_));
  const Term first = begin * width_, last = end * width_;
  const auto tiles = [&](int64_t pixels) {
    k_.loop(first, last, pixels,
            [&](Term pixel) { emit_tile(image, group, min(pixel, last - pixels), pixels); });
  };
  k_.when(first + tile_.pixels <= last, [&] { tiles(tile_.pixels); }, [&] { tiles(1); });
}

void Expansion::emit_tile(Term image, Term group, Term pixel, int64_t pixels) {
  const int64_t step_weights = group_blocks_ * kChannelBlock;
  const int64_t rest = channels_ % kChannelBlock;
  const Term zero = k_.index(0), one = k_.index(1), plane = x_pixels_ * kChannelBlock;
  const BlockedOperands whole{.x = x_,
                              .x_at = image * planes_ * plane + pixel * kChannelBlock,
                              .plane = plane,
                              .tap_row = zero,
                              .tap = zero,
                              .pixel_row = zero,
                              .w = w_,
                              .w_at = group * (planes_ * kChannelBlock * step_weights),
                              .sums = scratch_,
                              .sums_at = sums_at_,
                              .planes = k_.index(channels_ / kChannelBlock),
                              .tap_rows = one,
                              .taps = one,
                              .weight_rows = one,
                              .rest_planes = k_.index(rest == 0 ? 0 : 1),
                              .accumulate = k_.boolean(false),
                              .pixel = pixel,
                              .pixel_pitch = zero};
  const BlockedTile tile{
      .columns = pixels,
      .blocks = tile_.blocks,
      .group_blocks = group_blocks_,
      .pixel_step = kChannelBlock,
      .steps = kChannelBlock,
      .weight_steps = kChannelBlock,
      .prefetches_weights = schedule::prefetches_weights(channels_ * step_weights),
      .rest = rest,
      .column_elements = kChannelBlock};
  for (int64_t block = 0; block < group_blocks_; block += tile.blocks) {
    BlockedOperands part = whole;
    part.w_at = whole.w_at + block * kChannelBlock;
    part.sums_at = whole.sums_at + block * kChannelBlock;
    if (epilogue_.is_small()) epilogue_.enter(k_, {image, group * group_blocks_ + block});
    call_blocked_tile(k_, k_.context().kernels(), tile, part,
                      epilogue_.is_small() ? &epilogue_ : nullptr);
  }
  if (!epilogue_.is_small()) emit_epilogue(image, group, pixel, pixels);
}

// Computes the epilogue of the sums of a tile.
void Expansion::emit_epilogue(Term image, Term group, Term pixel, int64_t pixels) {
  const int64_t lanes = k_.lanes(DType::kF32);
  for (int64_t block = 0; block < group_blocks_; ++block) {
    epilogue_.enter(k_, {image, group * group_blocks_ + block});
    k_.loop(k_.index(0), k_.index(pixels), 1, [&](Term i) {
      for (int64_t lane = 0; lane < kChannelBlock; lane += lanes) {
        const Term at =
            sums_at_ + i * (group_blocks_ * kChannelBlock) + (block * kChannelBlock + lane);
        epilogue_.emit(k_, k_.load(scratch_, at, lanes), pixel + i, k_.index(lane), lanes, {});
      }
    });
  }
}

}  // namespace scopevm::compiler::kernels

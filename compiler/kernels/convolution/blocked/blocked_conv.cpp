// Convolutions of blocked images (sv.blocked_conv, sv.blocked_conv_transpose), except for those
// with narrow groups. Elements are f32, or quads of bytes: adjacent channels of an image of bytes.
// A work item is some pixels of an image and one group of output channel blocks. It is computed in
// tiles (row_tiles.h, tile.h), over one part of the depth after the other, so that the weights of a
// part stay close to the core while all tiles use them.
//
// A convolution whose windows are single pixels reads x. So do most others if the width of x is
// known: their tiles at the border omit the taps in the padding (schedule::ConvInput). Any other
// one first copies the part of x that its pixels need into scratch memory, with zeros for the
// padding. Tiles then need no variants for borders. A separable convolution or an inverted residual
// block computes this part of x (strip.h).
//
// Grid: images x parts of an image x phases x groups of channel blocks. The groups are innermost,
// so that a worker copies a part of x once for all groups that it computes. Only a transposed
// convolution has more than one phase (shape.h). An item of a separable convolution has all groups:
// no part of x is computed twice.
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/convolution/blocked/row_tiles.h"
#include "compiler/kernels/convolution/blocked/strip.h"
#include "compiler/kernels/convolution/blocked/tile.h"
#include "compiler/kernels/convolution/convolution.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::kChannelBlock;

// Elements of x that a work item reads: they stay in L2 while all groups use them.
constexpr int64_t kPartElements = 1 << 16;
// The same if an expansion computes them. Larger parts compute fewer rows of the expansion twice. A
// block of MobileNetV2 with 56x56 pixels takes 4 % less time than with parts of half this size.
// With parts of twice this size it takes 3 % less, but there are two parts per image.
constexpr int64_t kExpandedPartElements = 1 << 17;
// The pixels that amortise reading the weights of a group.
constexpr int64_t kLeastPixels = 64;

// Channel blocks that are computed together.
struct BlockGroup {
  Term number;  // in all phases
  int64_t blocks = 1;
  int64_t shift = 0;  // of its first block, from that of equal groups

  int64_t step_weights() const { return blocks * kChannelBlock; }
};

// What the tiles of a part of an item have in common.
struct TilePlace {
  Term image;
  BlockGroup group;
  Phase phases[2];     // transposed convolutions
  Term first;          // row of windows
  Term plane, planes;  // the part of the depth
  Term is_last;        // of the parts of the depth
};

class BlockedConv {
 public:
  // `producer` computes x; null if x is stored.
  BlockedConv(const FusedContraction& fused, LoweringContext& context,
              const FusedSeparable* producer = nullptr)
      : fused_(fused),
        producer_(producer),
        context_(context),
        conv_(fused.contraction, context.kernels().core(), /*is_computed=*/producer != nullptr),
        epilogue_(fused),
        k_(context, fused.contraction, kind_of(fused.contraction, producer)),
        x_(producer ? Buffer()
                    : k_.operand(context.value_of(fused.outer(shape_.x)), element(),
                                 Elements::kNumbers)),
        strip_(k_, shape_, x_, producer),
        partition_(partition()),
        o_(declare()) {}

  llvm::LogicalResult lower() {
    emit_items();
    const DimExpr pixels = partition_.rows * row_pixels();
    const DimExpr steps = pixels * DimExpr(conv_.step_weights() * conv_.depth());
    constexpr int64_t kTaskSteps = 1 << 21;
    const DimExpr items = graph::type_of(shape_.x).getDim(0) * partition_.parts;
    return producer_ ? k_.launch(items, grain_of(kTaskSteps, steps * DimExpr(conv_.all_groups())))
                     : k_.launch(items * DimExpr(conv_.all_groups()), grain_of(kTaskSteps, steps));
  }

 private:
  // The parts of the rows of an image, and the most rows of a part.
  struct Partition {
    DimExpr parts, rows;
  };

  struct Operands {
    Buffer w;
    Scratch scratch;
    Term parts, groups, part_rows, total_rows, out_width, row_sums, results[2];
    Term sizes[2];  // of x, if tiles omit the padding
  };

  static llvm::StringRef kind_of(mlir::Operation* op, const FusedSeparable* producer) {
    if (!producer) return op->getName().stripDialect();
    return producer->expansion ? "inverted_residual" : "separable_conv";
  }
  DType element() const { return shape_.element(); }
  bool reads_pixels() const { return schedule_.input == schedule::ConvInput::kPixels; }
  bool omits_padding() const { return schedule_.input == schedule::ConvInput::kInsidePads; }
  bool copies_x() const { return schedule_.input == schedule::ConvInput::kCopy; }

  // Tiles cover rows of pixels. The pixels of single-pixel windows are adjacent: all pixels of a
  // part are one row, and a "row" of the partition is one pixel if x is read directly.
  bool is_flat() const { return shape_.is_pointwise() && !shape_.is_transposed; }
  DimExpr row_pixels() const { return reads_pixels() ? DimExpr(1) : axes_[1].out; }
  DimExpr total_rows() const { return reads_pixels() ? axes_[0].out * axes_[1].out : axes_[0].out; }

  Partition partition() const {
    const DimExpr row_elements =
        reads_pixels() ? DimExpr(shape_.elements()) : strip_.row_elements();
    const DimExpr least =
        reads_pixels() ? DimExpr(kLeastPixels) : ceildiv(kLeastPixels, max(axes_[1].out, 1));
    const DimExpr rows = max(total_rows(), 1);
    const bool expands = producer_ && producer_->expansion;
    const int64_t part_elements = expands ? kExpandedPartElements : kPartElements;
    const DimExpr most = max(floordiv(part_elements, max(row_elements, 1)), least);
    DimExpr parts = ceildiv(rows, min(most, rows));
    // An even number: parts with an expansion are so large that two threads need equal shares.
    if (expands) parts = max(min(round_up(parts, 2), floordiv(rows, strip_.least_rows())), 1);
    const DimExpr part_rows = ceildiv(rows, parts);
    if (!producer_) return {parts, part_rows};
    const DimExpr whole_tiles =
        ceildiv(part_rows, strip_.tile_rows()) * DimExpr(strip_.tile_rows());
    return {ceildiv(rows, whole_tiles), whole_tiles};
  }

  Operands declare() {
    Operands o;
    o.w = k_.operand(packed_blocks(context_, fused_.contraction, fused_.outer(shape_.w), element(),
                                   conv_.weight_layout()),
                     element(), Elements::kNumbers);
    epilogue_.declare(k_);
    // The sums of the part, or of one tile if the depth has one part.
    const DimExpr rows = partition_.rows;
    const DimExpr row_sums = is_flat() ? row_pixels() : row_pixels() + kMostOverlap;
    const DimExpr sums =
        DimExpr(conv_.step_weights()) *
        (schedule_.depth_parts() == 1 ? min(DimExpr(schedule::kMostTilePixels), rows * row_pixels())
                                      : rows * row_sums + kMostOverlap);
    o.scratch = k_.scratch(!copies_x() ? sums : sums + strip_.elements(rows), element());
    if (copies_x()) strip_.declare(o.scratch, k_.param(sums), rows);
    for (int64_t axis = 0; omits_padding() && axis < 2; ++axis)
      o.sizes[axis] = k_.param(axes_[axis].size);
    o.parts = k_.param(partition_.parts);
    o.groups = k_.param(conv_.all_groups());
    o.part_rows = k_.param(rows);
    o.total_rows = k_.param(total_rows());
    o.out_width = k_.param(row_pixels());
    o.row_sums = k_.param(row_sums);
    for (int64_t axis = 0; axis < 2; ++axis) o.results[axis] = k_.param(axes_[axis].result);
    return o;
  }

  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      const Term strip = producer_ ? item : quotient(item, o_.groups);
      const Term image = quotient(strip, o_.parts);
      const Term first = remainder(strip, o_.parts) * o_.part_rows;
      const Term rows = part_rows(o_.total_rows, first);
      if (producer_) {
        strip_.emit(image, first, rows);
        k_.loop(k_.index(0), o_.groups, 1,
                [&](Term group) { emit_item(image, first, rows, group); });
        return;
      }
      const Term group = remainder(item, o_.groups);
      if (copies_x())
        k_.when(k_.items_done(item, strip * o_.groups) == 0,
                [&] { strip_.emit(image, first, rows); });
      emit_item(image, first, rows, group);
    });
  }

  // The rows of a part that begins at row `first` of `count` rows.
  Term part_rows(Term count, Term first) { return max(min(count - first, o_.part_rows), 0); }

  // --- Tiles. ---

  void emit_item(Term image, Term first, Term rows, Term number) {
    const auto emit = [&](const BlockGroup& group) { emit_group(image, first, rows, group); };
    const int64_t larger = conv_.groups.larger, most = conv_.groups.most;
    if (conv_.groups.are_equal()) return emit({number, most});
    k_.when(
        number < larger, [&] { emit({number, most}); },
        [&] { emit({number, most - 1, /*shift=*/larger}); });
  }

  void emit_group(Term image, Term first, Term rows, const BlockGroup& group) {
    TilePlace place{.image = image, .group = group, .first = first};
    if (shape_.is_transposed) {
      const Term phase = quotient(group.number, conv_.phase_groups());
      const Term numbers[] = {quotient(phase, axes_[1].phases), remainder(phase, axes_[1].phases)};
      for (size_t i = 0; i < 2; ++i)
        place.phases[i] = Phase::of(k_, axes_[i], numbers[i], o_.results[i]);
      rows = part_rows(place.phases[0].count, first);
    }
    k_.loop(k_.index(0), k_.index(schedule_.depth_parts()), 1, [&](Term part) {
      const Term plane = part * schedule_.depth_planes;
      place.plane = plane;
      place.planes = min(k_.index(schedule_.whole_planes()) - plane, schedule_.depth_planes);
      place.is_last = part == schedule_.depth_parts() - 1;
      emit_tiles(rows, place);
    });
  }

  // Emits the tiles that cover `rows` rows of the part.
  void emit_tiles(Term rows, const TilePlace& place) {
    const RowTiles tiles(k_, shape_, place.group.blocks, omits_padding());
    const auto emit = [&](const TileSize& size, Term row, Term column, Term done) {
      emit_tile(place, size, row, column, done);
    };
    if (is_flat()) {
      std::optional<int64_t> pixels = (partition_.rows * row_pixels()).as_constant();
      const bool are_equal = mod(total_rows(), partition_.rows).is_constant(0);  // all parts
      if (!are_equal || total_rows().is_constant(0)) pixels.reset();
      return tiles.emit_row(rows * o_.out_width, pixels, emit);
    }
    const Term columns = shape_.is_transposed ? place.phases[1].count : o_.out_width;
    tiles.emit_rows(rows, columns, emit);
  }

  bool has_taps() const { return axes_[1].dilation != 1 && axes_[1].taps != 1; }

  void emit_tile(const TilePlace& place, const TileSize& size, Term row, Term column, Term done) {
    const int64_t step_weights = place.group.step_weights();
    // Overlapping tiles have separate sums, because each part of the depth adds to them.
    const Term begin = done ? column + done : column;
    const Term sums_at =
        schedule_.depth_parts() == 1
            ? o_.scratch.start
            : o_.scratch.start + (row * o_.row_sums + begin * size.rows) * step_weights;
    BlockedOperands o{
        .w = o_.w,
        .w_at = first_weights(place.group) + place.plane * (conv_.plane_depth() * step_weights),
        .sums = o_.scratch.buffer,
        .sums_at = sums_at,
        .planes = place.planes,
        .tap_rows = k_.index(axes_[0].taps),
        .taps = k_.index(axes_[1].taps),
        .weight_rows = k_.index(axes_[0].taps),
        .rest_planes = select(place.is_last, k_.index(1), k_.index(0)),
        .accumulate = 0 < place.plane};
    const Term x_plane =
        shape_.groups == 1
            ? place.plane
            : quotient(place.group.number, conv_.groups.count) * schedule_.planes + place.plane;
    if (omits_padding()) {
      set_part_of_x(o, place, x_plane, place.first + row, column);
    } else if (reads_pixels()) {
      o.x = x_;
      o.plane = o_.total_rows * schedule_.pixel;
      o.x_at = (place.image * conv_.x_planes() + x_plane) * o.plane +
               (place.first + column) * schedule_.pixel;
      o.tap_row = o.tap = o.pixel_row = k_.index(0);
    } else {
      set_copied_part(o, place, x_plane, row, column);
    }
    const BlockedTile tile = tile_of(size, place.group);
    const Term pixel = result_pixel(place, place.first + row, column);
    o.pixel = pixel;
    o.pixel_pitch = result_pitch();
    const auto call = [&](const Epilogue* epilogue) { emit_calls(place, size, tile, o, epilogue); };
    const auto store = [&] { emit_epilogue(place, size, pixel, done, sums_at); };
    if (!epilogue_.is_small()) {
      call(nullptr);
      return k_.when(place.is_last, store);
    }
    // The function of the tile computes the epilogue, unless pixels must not be stored again.
    const bool omits_done = done && !epilogue_.is_repeatable();
    if (schedule_.depth_parts() == 1 && !omits_done) return call(&epilogue_);
    k_.when(
        omits_done ? place.is_last & (done == 0) : place.is_last, [&] { call(&epilogue_); },
        [&] {
          call(nullptr);
          if (omits_done) k_.when(place.is_last, store);
        });
  }

  // The elements between the inputs of adjacent pixels.
  int64_t pixel_step() const {
    return schedule_.pixel * (omits_padding() ? axes_[1].stride : axes_[1].tile_step());
  }

  // The tile without its columns and steps.
  BlockedTile tile_of(const TileSize& size, const BlockGroup& group) const {
    const bool has_padding = omits_padding() && axes_[0].has_padding();
    const bool by_column = size.before != 0 || size.after != 0;
    return {
        .rows = size.rows,
        .blocks = schedule::conv_tile(k_.target(), group.blocks).blocks,
        .group_blocks = group.blocks,
        .pixel_step = pixel_step(),
        .result_step = axes_[1].phases,
        .weight_steps = schedule_.pixel * (has_taps() && !by_column ? 1 : axes_[1].taps),
        .has_tap_rows = axes_[0].taps != 1 || !axes_[0].is_uniform() || has_padding,
        .has_taps = has_taps() && !by_column,
        .has_quads = shape_.has_bytes,
        .prefetches_weights = schedule::prefetches_weights(conv_.depth() * group.step_weights()),
        .prefetches_x = reads_pixels(),
        .rest = schedule_.rest,
        .before = size.before,
        .after = size.after,
        .column_elements = schedule_.pixel,
        .stride = axes_[1].stride,
        .dilation = axes_[1].dilation};
  }

  // The position of the packed weights of a group.
  Term first_weights(const BlockGroup& group) {
    const Term at = group.number * (conv_.depth() * group.step_weights());
    return group.shift == 0 ? at : at + group.shift * (conv_.depth() * kChannelBlock);
  }

  // Sets the part of the copy of x that a tile reads, and the taps of its phase.
  void set_copied_part(BlockedOperands& o, const TilePlace& place, Term plane, Term row,
                       Term column) {
    o.x = strip_.buffer();
    o.plane = strip_.plane();
    const Term pitch = strip_.pitch();
    o.x_at = strip_.start() + plane * o.plane + row * (pitch * axes_[0].tile_step()) +
             column * pixel_step();
    o.tap_row = pitch * axes_[0].dilation;
    o.tap = k_.index(schedule_.pixel * axes_[1].dilation);
    o.pixel_row = pitch * axes_[0].tile_step();
    if (!shape_.is_transposed) return;
    const auto& [y, x] = place.phases;
    o.x_at = o.x_at + y.shift * pitch + x.shift * schedule_.pixel;
    o.w_at =
        o.w_at + (y.skip * axes_[1].taps + x.skip) * (schedule_.pixel * place.group.step_weights());
    o.tap_rows = o.tap_rows - y.skip;
  }

  // Sets the part of x that a tile of windows reads, without the tap rows in the padding.
  void set_part_of_x(BlockedOperands& o, const TilePlace& place, Term plane, Term row,
                     Term column) {
    const BlockedAxis &y = axes_[0], &x = axes_[1];
    const Term pitch = o_.sizes[1] * schedule_.pixel;
    Term top = row * y.stride - y.pad;
    if (axes_[0].has_padding()) {
      const auto taps_below = [&](Term end) {
        return min(ceil_quotient(max(end - top, 0), k_.index(y.dilation)), k_.index(y.taps));
      };
      const Term skipped = taps_below(k_.index(0));
      o.tap_rows = max(taps_below(o_.sizes[0]) - skipped, 0);
      o.w_at = o.w_at + skipped * (schedule_.pixel * x.taps * place.group.step_weights());
      top = top + skipped * y.dilation;
    }
    o.x = x_;
    o.plane = o_.sizes[0] * pitch;
    o.x_at = (place.image * conv_.x_planes() + plane) * o.plane + top * pitch +
             (column * x.stride - x.pad) * schedule_.pixel;
    o.tap_row = pitch * y.dilation;
    o.tap = k_.index(schedule_.pixel * x.dilation);
    o.pixel_row = pitch * y.stride;
  }

  // Calls the functions that compute a tile.
  void emit_calls(const TilePlace& place, const TileSize& size, BlockedTile tile,
                  const BlockedOperands& o, const Epilogue* epilogue) {
    for (int64_t block = 0; block < place.group.blocks; block += tile.blocks) {
      BlockedOperands part = o;
      part.w_at = o.w_at + block * kChannelBlock;
      part.sums_at = o.sums_at + block * kChannelBlock;
      tile.has_half_block = schedule_.has_half_block && block + tile.blocks == place.group.blocks;
      if (epilogue) enter_epilogue(place, block);
      size.each_width(k_, [&](int64_t width) {
        tile.columns = width;
        const auto call = [&](int64_t skip) {
          tile.steps = tile.weight_steps - skip * schedule_.pixel;
          call_blocked_tile(k_, context_.kernels(), tile, part, epilogue);
        };
        if (axes_[1].is_uniform()) return call(0);
        k_.when(place.phases[1].skip == 0, [&] { call(0); }, [&] { call(1); });
      });
    }
  }

  // The number of the result's pixel for a window, and the difference between adjacent rows.
  Term result_pixel(const TilePlace& place, Term row, Term column) {
    if (!shape_.is_transposed) return row * o_.out_width + column;
    return (row * axes_[0].phases + place.phases[0].number) * o_.results[1] +
           (column * axes_[1].phases + place.phases[1].number);
  }
  Term result_pitch() {
    return shape_.is_transposed ? o_.results[1] * axes_[0].phases : o_.out_width;
  }

  void enter_epilogue(const TilePlace& place, int64_t block) {
    const auto& [number, blocks, shift] = place.group;
    const Term group = shape_.is_transposed ? remainder(number, conv_.phase_groups()) : number;
    epilogue_.enter(k_, {place.image, group * blocks + (shift + block)});
  }

  // Stores the results of a tile, whose first pixel is `pixel` of the result, but not those of the
  // first `done` columns.
  void emit_epilogue(const TilePlace& place, const TileSize& size, Term pixel, Term done,
                     Term sums_at) {
    const int64_t lanes = k_.lanes(DType::kF32), step_weights = place.group.step_weights();
    for (int64_t block = 0; block < place.group.blocks; ++block) {
      enter_epilogue(place, block);
      // The tile does not store sums of channels that are padding. Their sums are 0, as in
      // emit_tile().
      const bool is_half = schedule_.has_half_block && block == place.group.blocks - 1;
      const int64_t channels = is_half ? kChannelBlock / 2 : kChannelBlock;
      for (int64_t row = 0; row < size.rows; ++row) {
        const Term from = sums_at + row * (size.width * step_weights);
        const Term to = pixel + result_pitch() * row;
        k_.loop(done ? done : k_.index(0), size.width, 1, [&](Term i) {
          for (int64_t lane = 0; lane < kChannelBlock; lane += lanes) {
            const int64_t stored = std::clamp<int64_t>(channels - lane, 0, lanes);
            const Term sum =
                k_.load(o_.scratch.buffer, from + i * step_weights + (block * kChannelBlock + lane),
                        lanes, stored == lanes ? Term() : k_.mask(k_.index(stored), lanes));
            epilogue_.emit(k_, sum, to + i * axes_[1].phases, k_.index(lane), lanes, {});
          }
        });
      }
    }
  }

  const FusedContraction& fused_;
  const FusedSeparable* producer_;
  LoweringContext& context_;
  const ScheduledConv conv_;
  const BlockedShape& shape_ = conv_.shape;
  const schedule::ConvSchedule& schedule_ = conv_.schedule;
  const BlockedAxis (&axes_)[2] = shape_.axes;
  Epilogue epilogue_;
  KernelBuilder k_;
  const Buffer x_;  // null if a producer computes x
  Strip strip_;     // not used if x is read directly
  const Partition partition_;
  const Operands o_;
};

}  // namespace

llvm::LogicalResult lower_blocked_conv(const FusedContraction& fused, LoweringContext& context) {
  return BlockedConv(fused, context).lower();
}

llvm::LogicalResult lower_separable_conv(const FusedSeparable& fused, LoweringContext& context) {
  return BlockedConv(fused.pointwise, context, &fused).lower();
}

}  // namespace scopevm::compiler::kernels

// f32 convolutions of blocked images (sv.blocked_conv, sv.blocked_conv_transpose), except for those
// with narrow groups. A work item is some pixels of an image and one group of output channel
// blocks. It is computed in tiles (row_tiles.h, tile.h), over one part of the depth after the
// other, so that the weights of a part stay close to the core while all tiles use them.
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
// The phase of an item along one axis.
struct Phase {
  Term number;
  Term count;  // its windows in an image
  Term skip;   // 1 if the first tap of the weights is not used
  Term shift;  // of its first used tap, in the common window
};

// What the tiles of a part of an item have in common.
struct TilePlace {
  Term image, group;   // group: of channel blocks, in all phases
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
        op_(fused.contraction),
        shape_(op_),
        schedule_(schedule::choose_conv(shape_.problem(producer != nullptr),
                                        context.kernels().core(), shape_.form)),
        epilogue_(fused),
        k_(context, op_, kind_of(op_, producer)),
        strip_(k_, shape_, shape_.channels) {}

  llvm::LogicalResult lower() {
    declare();
    emit_items();
    const DimExpr pixels = rows_per_part_ * row_pixels();
    const DimExpr steps = pixels * DimExpr(step_weights() * depth());
    constexpr int64_t kTaskSteps = 1 << 21;
    const int64_t groups = shape_.phases() * phase_groups();
    const DimExpr items = BlockedShape::type_of(shape_.x).getDim(0) * parts_;
    return producer_ ? k_.launch(items, grain_of(kTaskSteps, steps * DimExpr(groups)))
                     : k_.launch(items * DimExpr(groups), grain_of(kTaskSteps, steps));
  }

 private:
  static llvm::StringRef kind_of(mlir::Operation* op, const FusedSeparable* producer) {
    if (!producer) return op->getName().stripDialect();
    return producer->expansion ? "inverted_residual" : "separable_conv";
  }
  int64_t pixel() const { return schedule_.pixel; }
  int64_t planes() const { return schedule_.planes; }
  int64_t group_blocks() const { return schedule_.form.group_blocks; }
  // The groups of channel blocks of a phase.
  int64_t phase_groups() const { return shape_.out_blocks / group_blocks(); }
  int64_t plane_depth() const { return pixel() * axes_[0].taps * axes_[1].taps; }
  int64_t depth() const { return planes() * plane_depth(); }
  // The elements of the packed weights of a step.
  int64_t step_weights() const { return group_blocks() * kChannelBlock; }
  // Tiles cover rows of pixels. The pixels of single-pixel windows are adjacent: all pixels of a
  // part are one row, and a "row" of the partition is one pixel if x is read directly.
  bool is_flat() const { return shape_.is_pointwise() && !shape_.is_transposed; }
  int64_t x_planes() const { return planes() * shape_.groups; }
  bool reads_pixels() const { return schedule_.input == schedule::ConvInput::kPixels; }
  bool omits_padding() const { return schedule_.input == schedule::ConvInput::kInsidePads; }
  bool copies_x() const { return schedule_.input == schedule::ConvInput::kCopy; }

  DimExpr row_pixels() const { return reads_pixels() ? DimExpr(1) : axes_[1].out; }
  DimExpr total_rows() const { return reads_pixels() ? axes_[0].out * axes_[1].out : axes_[0].out; }

  void declare() {
    const DimExpr row_elements = reads_pixels() ? DimExpr(shape_.channels) : strip_.row_elements();
    const DimExpr least =
        reads_pixels() ? DimExpr(kLeastPixels) : ceildiv(kLeastPixels, max(axes_[1].out, 1));
    const DimExpr rows = max(total_rows(), 1);
    const bool expands = producer_ && producer_->expansion;
    const int64_t part_elements = expands ? kExpandedPartElements : kPartElements;
    const DimExpr most = max(floordiv(part_elements, max(row_elements, 1)), least);
    parts_ = ceildiv(rows, min(most, rows));
    if (producer_) strip_.compute_by(*producer_);
    // An even number: parts with an expansion are so large that two threads need equal shares.
    if (expands) parts_ = max(min(round_up(parts_, 2), floordiv(rows, strip_.least_rows())), 1);
    rows_per_part_ = ceildiv(rows, parts_);

    if (producer_) {
      rows_per_part_ = ceildiv(rows_per_part_, strip_.tile_rows()) * DimExpr(strip_.tile_rows());
      parts_ = ceildiv(rows, rows_per_part_);
    } else {
      x_ = k_.operand(fused_.outer(shape_.x), Elements::kNumbers);
      strip_.copy_from(x_);
    }
    w_ = k_.operand(packed_blocks(context_, op_, fused_.outer(shape_.w), pixel(), group_blocks()),
                    DType::kF32, Elements::kNumbers);
    epilogue_.declare(k_);
    // The sums of the part, or of one tile if the depth has one part.
    const DimExpr row_sums = is_flat() ? row_pixels() : row_pixels() + kMostOverlap;
    const DimExpr sums = DimExpr(step_weights()) * (schedule_.depth_parts() == 1
                                                        ? min(DimExpr(schedule::kMostTilePixels),
                                                              rows_per_part_ * row_pixels())
                                                        : rows_per_part_ * row_sums + kMostOverlap);
    scratch_ = k_.scratch(!copies_x() ? sums : sums + strip_.elements(rows_per_part_), DType::kF32);
    if (copies_x()) strip_.declare(scratch_, k_.param(sums), rows_per_part_);
    for (int64_t axis = 0; omits_padding() && axis < 2; ++axis)
      sizes_[axis] = k_.param(axes_[axis].size);
    parts_term_ = k_.param(parts_);
    groups_ = k_.param(shape_.phases() * phase_groups());
    rows_per_part_term_ = k_.param(rows_per_part_);
    total_rows_ = k_.param(total_rows());
    out_width_ = k_.param(row_pixels());
    row_sums_ = k_.param(row_sums);
    for (int64_t axis = 0; axis < 2; ++axis) results_[axis] = k_.param(axes_[axis].result);
  }

  void emit_items() {
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) {
      const Term strip = producer_ ? item : quotient(item, groups_);
      const Term image = quotient(strip, parts_term_);
      const Term first = remainder(strip, parts_term_) * rows_per_part_term_;
      const Term rows = part_rows(total_rows_, first);
      if (producer_) {
        strip_.emit(image, first, rows);
        k_.loop(k_.index(0), groups_, 1, [&](Term group) { emit_item(image, first, rows, group); });
        return;
      }
      const Term group = remainder(item, groups_);
      if (copies_x())
        k_.when(k_.items_done(item, strip * groups_) == 0,
                [&] { strip_.emit(image, first, rows); });
      emit_item(image, first, rows, group);
    });
  }

  // The rows of a part that begins at row `first` of `count` rows.
  Term part_rows(Term count, Term first) { return max(min(count - first, rows_per_part_term_), 0); }

  // --- Tiles. ---

  void emit_item(Term image, Term first, Term rows, Term group) {
    TilePlace place{.image = image, .group = group, .first = first};
    if (shape_.is_transposed) {
      const Term phase = quotient(group, phase_groups());
      place.phases[0] = phase_of(0, quotient(phase, axes_[1].phases));
      place.phases[1] = phase_of(1, remainder(phase, axes_[1].phases));
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
    const RowTiles tiles(k_, shape_, group_blocks(), omits_padding(),
                         depth() / schedule_.depth_parts());
    const auto emit = [&](const TileSize& size, Term row, Term column, Term done) {
      emit_tile(place, size, row, column, done);
    };
    if (is_flat()) {
      std::optional<int64_t> pixels = (rows_per_part_ * row_pixels()).as_constant();
      if (!is_exact() || total_rows().is_constant(0)) pixels.reset();
      return tiles.emit_row(rows * out_width_, pixels, emit);
    }
    const Term columns = shape_.is_transposed ? place.phases[1].count : out_width_;
    tiles.emit_rows(rows, columns, emit);
  }

  // As graph::phase_taps().
  Phase phase_of(int64_t axis, Term number) {
    const BlockedAxis& a = axes_[axis];
    const Term shift = quotient(number + a.full_pad, a.phases);
    const Term first = number + a.full_pad - shift * a.phases;
    const Term skip =
        select(first + a.phases * (a.taps - 1) < a.full_kernel, k_.index(0), k_.index(1));
    return {.number = number,
            .count = quotient(results_[axis] - number + (a.phases - 1), a.phases),
            .skip = skip,
            .shift = shift - a.least_shift + skip};
  }

  bool has_taps() const { return axes_[1].dilation != 1 && axes_[1].taps != 1; }

  // Whether all parts have the same number of rows.
  bool is_exact() const { return mod(total_rows(), rows_per_part_).is_constant(0); }

  void emit_tile(const TilePlace& place, const TileSize& size, Term row, Term column, Term done) {
    // Overlapping tiles have separate sums, because each part of the depth adds to them.
    const Term begin = done ? column + done : column;
    const Term sums_at =
        schedule_.depth_parts() == 1
            ? scratch_.start
            : scratch_.start + (row * row_sums_ + begin * size.rows) * step_weights();
    BlockedOperands o{.w = w_,
                      .w_at = place.group * (depth() * step_weights()) +
                              place.plane * (plane_depth() * step_weights()),
                      .sums = scratch_.buffer,
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
            : quotient(place.group, phase_groups() / shape_.groups) * planes() + place.plane;
    if (omits_padding()) {
      set_part_of_x(o, place, x_plane, place.first + row, column);
    } else if (reads_pixels()) {
      o.x = x_;
      o.plane = total_rows_ * pixel();
      o.x_at = (place.image * x_planes() + x_plane) * o.plane + (place.first + column) * pixel();
      o.tap_row = o.tap = o.pixel_row = k_.index(0);
    } else {
      set_copied_part(o, place, x_plane, row, column);
    }
    const BlockedTile tile = tile_of(size);
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
    return pixel() * (omits_padding() ? axes_[1].stride : axes_[1].tile_step());
  }

  // The tile without its columns and steps.
  BlockedTile tile_of(const TileSize& size) const {
    const bool has_padding = omits_padding() && axes_[0].has_padding();
    const bool by_column = size.before != 0 || size.after != 0;
    return {.rows = size.rows,
            .blocks = schedule::conv_tile(k_.target(), group_blocks()).blocks,
            .group_blocks = group_blocks(),
            .pixel_step = pixel_step(),
            .result_step = axes_[1].phases,
            .weight_steps = pixel() * (has_taps() && !by_column ? 1 : axes_[1].taps),
            .has_tap_rows = axes_[0].taps != 1 || !axes_[0].is_uniform() || has_padding,
            .has_taps = has_taps() && !by_column,
            .prefetches_weights = schedule::prefetches_weights(depth() * step_weights()),
            .prefetches_x = reads_pixels(),
            .rest = schedule_.rest,
            .before = size.before,
            .after = size.after,
            .column_elements = pixel(),
            .stride = axes_[1].stride,
            .dilation = axes_[1].dilation};
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
    o.tap = k_.index(pixel() * axes_[1].dilation);
    o.pixel_row = pitch * axes_[0].tile_step();
    if (!shape_.is_transposed) return;
    const auto& [y, x] = place.phases;
    o.x_at = o.x_at + y.shift * pitch + x.shift * pixel();
    o.w_at = o.w_at + (y.skip * axes_[1].taps + x.skip) * (pixel() * step_weights());
    o.tap_rows = o.tap_rows - y.skip;
  }

  // Sets the part of x that a tile of windows reads, without the tap rows in the padding.
  void set_part_of_x(BlockedOperands& o, const TilePlace& place, Term plane, Term row,
                     Term column) {
    const BlockedAxis &y = axes_[0], &x = axes_[1];
    const Term pitch = sizes_[1] * pixel();
    Term top = row * y.stride - y.pad;
    if (axes_[0].has_padding()) {
      const auto taps_below = [&](Term end) {
        return min(ceil_quotient(max(end - top, 0), k_.index(y.dilation)), k_.index(y.taps));
      };
      const Term skipped = taps_below(k_.index(0));
      o.tap_rows = max(taps_below(sizes_[0]) - skipped, 0);
      o.w_at = o.w_at + skipped * (pixel() * x.taps * step_weights());
      top = top + skipped * y.dilation;
    }
    o.x = x_;
    o.plane = sizes_[0] * pitch;
    o.x_at = (place.image * x_planes() + plane) * o.plane + top * pitch +
             (column * x.stride - x.pad) * pixel();
    o.tap_row = pitch * y.dilation;
    o.tap = k_.index(pixel() * x.dilation);
    o.pixel_row = pitch * y.stride;
  }

  // Calls the functions that compute a tile.
  void emit_calls(const TilePlace& place, const TileSize& size, BlockedTile tile,
                  const BlockedOperands& o, const Epilogue* epilogue) {
    for (int64_t block = 0; block < group_blocks(); block += tile.blocks) {
      BlockedOperands part = o;
      part.w_at = o.w_at + block * kChannelBlock;
      part.sums_at = o.sums_at + block * kChannelBlock;
      tile.has_half_block = schedule_.has_half_block && block + tile.blocks == group_blocks();
      if (epilogue) enter_epilogue(place, block);
      each_width(size, [&](int64_t width) {
        tile.columns = width;
        const auto call = [&](int64_t skip) {
          tile.steps = tile.weight_steps - skip * pixel();
          call_blocked_tile(k_, context_.kernels(), tile, part, epilogue);
        };
        if (axes_[1].is_uniform()) return call(0);
        k_.when(place.phases[1].skip == 0, [&] { call(0); }, [&] { call(1); });
      });
    }
  }

  // The number of the result's pixel for a window, and the difference between adjacent rows.
  Term result_pixel(const TilePlace& place, Term row, Term column) {
    if (!shape_.is_transposed) return row * out_width_ + column;
    return (row * axes_[0].phases + place.phases[0].number) * results_[1] +
           (column * axes_[1].phases + place.phases[1].number);
  }
  Term result_pitch() { return shape_.is_transposed ? results_[1] * axes_[0].phases : out_width_; }

  void enter_epilogue(const TilePlace& place, int64_t block) {
    const Term group = shape_.is_transposed ? remainder(place.group, phase_groups()) : place.group;
    epilogue_.enter(k_, {place.image, group * group_blocks() + block});
  }

  // Emits `body` for the width of the tile.
  void each_width(const TileSize& size, llvm::function_ref<void(int64_t width)> body) {
    Term number = k_.index(0);
    for (size_t i = 1; i < size.widths.size(); ++i)
      number = select(size.width == size.widths[i], k_.index(static_cast<int64_t>(i)), number);
    k_.switch_index(number, static_cast<int64_t>(size.widths.size()),
                    [&](int64_t i) { body(size.widths[i]); });
  }

  // Stores the results of a tile, whose first pixel is `pixel` of the result, but not those of the
  // first `done` columns.
  void emit_epilogue(const TilePlace& place, const TileSize& size, Term pixel, Term done,
                     Term sums_at) {
    const int64_t lanes = k_.lanes(DType::kF32);
    for (int64_t block = 0; block < group_blocks(); ++block) {
      enter_epilogue(place, block);
      for (int64_t row = 0; row < size.rows; ++row) {
        const Term from = sums_at + row * (size.width * step_weights());
        const Term to = pixel + result_pitch() * row;
        k_.loop(done ? done : k_.index(0), size.width, 1, [&](Term i) {
          for (int64_t lane = 0; lane < kChannelBlock; lane += lanes) {
            const Term sum = k_.load(
                scratch_.buffer, from + i * step_weights() + (block * kChannelBlock + lane), lanes);
            epilogue_.emit(k_, sum, to + i * axes_[1].phases, k_.index(lane), lanes, {});
          }
        });
      }
    }
  }

  const FusedContraction& fused_;
  const FusedSeparable* producer_;
  LoweringContext& context_;
  mlir::Operation* op_;
  const BlockedShape shape_;
  const schedule::ConvSchedule schedule_;
  const BlockedAxis (&axes_)[2] = shape_.axes;
  Epilogue epilogue_;
  KernelBuilder k_;
  Strip strip_;  // not used if x is read directly

  DimExpr parts_, rows_per_part_;
  Buffer x_, w_;
  Scratch scratch_;
  Term parts_term_, groups_, rows_per_part_term_, total_rows_, out_width_, row_sums_, results_[2];
  Term sizes_[2];  // of x, if tiles omit the padding
};

}  // namespace

llvm::LogicalResult lower_blocked_conv(const FusedContraction& fused, LoweringContext& context) {
  return BlockedConv(fused, context).lower();
}

llvm::LogicalResult lower_separable_conv(const FusedSeparable& fused, LoweringContext& context) {
  return BlockedConv(fused.pointwise, context, &fused).lower();
}

}  // namespace scopevm::compiler::kernels

// Tile sizes of blocked convolutions.
#include "compiler/kernels/convolution/blocked/row_tiles.h"

#include "compiler/dims/representative.h"
#include "compiler/kernels/convolution/blocked/tile.h"

namespace scopevm::compiler::kernels {

using graph::kChannelBlock;

void TileSize::each_width(CodeBuilder& e, llvm::function_ref<void(int64_t width)> body) const {
  Term number = e.index(0);
  for (size_t i = 1; i < widths.size(); ++i)
    number = select(width == widths[i], e.index(static_cast<int64_t>(i)), number);
  e.switch_index(number, static_cast<int64_t>(widths.size()), [&](int64_t i) { body(widths[i]); });
}

RowTiles::RowTiles(KernelBuilder& k, const BlockedShape& shape, int64_t group_blocks,
                   bool omits_padding)
    : k_(k),
      shape_(shape),
      axes_(shape.axes),
      group_blocks_(group_blocks),
      omits_padding_(omits_padding),
      blocks_(schedule::conv_tile(k.target(), group_blocks).blocks),
      most_(schedule::conv_tile(k.target(), group_blocks).pixels) {
  // Steps of many taps that are not in a loop have operands of two steps in registers: tiles of 6
  // pixels and four blocks would have no registers for them.
  constexpr int64_t kManyTaps = 5, kMostSums = 20;
  const int64_t taps = axes_[1].taps;
  if (graph::type_of(shape.x).getRank() == 4 && kManyTaps <= taps && taps <= kMostUnrolled &&
      blocks_ == 4)
    most_ = kMostSums / blocks_;
}

void RowTiles::emit_row(Term count, std::optional<int64_t> known, Emit emit) const {
  emit_row(1, count, known, most_, k_.index(0), emit);
}

void RowTiles::emit_rows(Term rows, Term columns, Emit emit) const {
  std::optional<int64_t> width = axes_[1].out.as_constant();
  // Phases can have different numbers of windows.
  if (!mod(axes_[1].result, axes_[1].phases).is_constant(0)) width.reset();
  const bool has_one_row = omits_padding_ && (axes_[0].has_padding() || axes_[1].has_padding());
  const int64_t filled = schedule::row_tile_pixels(k_.target(), group_blocks_, width.value_or(0));
  const bool is_filled = filled > schedule::conv_tile(k_.target(), group_blocks_).pixels;
  const int64_t most = is_filled ? filled : most_;
  const int64_t tile_rows =
      width && *width > 0 && !has_one_row ? std::max<int64_t>(most / *width, 1) : 1;
  Term at = k_.index(0);
  if (has_short_rows())
    for (const int64_t size : {4, 2}) at = emit_short_rows(size, rows, columns, at, emit);
  // As many tiles with the most rows as possible, then one with the half, and so on.
  for (int64_t size = tile_rows; size > 0; size /= 2) {
    const Term end = size == 1 ? rows : at + quotient(rows - at, size) * size;
    k_.loop(at, end, size, [&](Term row) { emit_row(size, columns, width, most, row, emit); });
    at = end;
  }
}

// Emits tiles of `size` rows from row `at` on, if a row fills more than half of a tile. Returns
// the first row without a tile.
Term RowTiles::emit_short_rows(int64_t size, Term rows, Term columns, Term at, Emit emit) const {
  const int64_t longest = most_ / size;
  const Term is_short = (longest / 2 < columns) & (columns <= longest);
  const Term end = select(is_short, at + quotient(rows - at, size) * size, at);
  k_.loop(at, end, size, [&](Term row) { emit_row(size, columns, {}, longest, row, emit); });
  return end;
}

// Whether rows of unknown length are probably so short that one row does not fill a tile.
bool RowTiles::has_short_rows() const {
  constexpr double kMost = 8;
  constexpr int64_t kLeastTile = 13;
  return !shape_.is_transposed && !axes_[1].out.is_constant() && most_ >= kLeastTile &&
         representative(axes_[1].out) <= kMost;
}

// Emits the tiles of `tile_rows` rows from `row` on, which have `count` columns.
void RowTiles::emit_row(int64_t tile_rows, Term count, std::optional<int64_t> known, int64_t most,
                        Term row, Emit emit) const {
  if (!known) return emit_unknown_row(tile_rows, count, most, row, emit);
  // The widths differ by at most one.
  const int64_t tiles = std::max<int64_t>((*known + most - 1) / most, 1);
  const int64_t least = *known / tiles, wider = *known % tiles * (least + 1);
  const auto run = [&](int64_t begin, int64_t end, int64_t width) {
    if (omits_padding_) return emit_at_border(tile_rows, begin, end, width, row, emit);
    if (begin < end)
      k_.loop(k_.index(begin), k_.index(end), width,
              [&](Term column) { emit({tile_rows, width, k_.index(width)}, row, column, {}); });
  };
  run(0, wider, least + 1);
  run(wider, *known, std::max<int64_t>(least, 1));
}

// Emits the tiles of `width` columns that cover [begin, end). Adjacent tiles with the same taps
// in the padding are one loop.
void RowTiles::emit_at_border(int64_t tile_rows, int64_t begin, int64_t end, int64_t width,
                              Term row, Emit emit) const {
  const auto size_at = [&](int64_t column) {
    const BlockedAxis& axis = axes_[1];
    const int64_t first = column * axis.stride - axis.pad;
    const int64_t last = first + (width - 1) * axis.stride + (axis.kernel - 1) * axis.dilation;
    return TileSize{tile_rows, width, k_.index(width), std::max<int64_t>(-first, 0),
                    std::max<int64_t>(last - (*axis.size.as_constant() - 1), 0)};
  };
  while (begin < end) {
    const TileSize size = size_at(begin);
    int64_t next = begin + width;
    for (; next < end; next += width)
      if (const TileSize other = size_at(next);
          other.before != size.before || other.after != size.after)
        break;
    k_.loop(k_.index(begin), k_.index(next), width,
            [&](Term column) { emit(size, row, column, {}); });
    begin = next;
  }
}

// Tiles of equal width, one of a few. The last tile overlaps the one before it in its first
// `done` pixels of each row.
void RowTiles::emit_unknown_row(int64_t tile_rows, Term count, int64_t most, Term row,
                                Emit emit) const {
  llvm::SmallVector<int64_t> widths;
  const int64_t step = tile_rows == 1 && most > 12 ? 4 : 2;
  // Tiles of several rows have rows that fill more than half of them.
  const int64_t first = tile_rows == 1 ? 1 : (most / 2 + 1) / 2 * 2;
  for (int64_t width = first; width <= most; width += width < step ? 1 : step)
    widths.push_back(width);
  if (widths.back() != most) widths.push_back(most);
  // The width, at most `count`, with the least time: a step of a tile takes the time of its sums
  // and of about kOverhead more, and pixels in two tiles are computed twice.
  constexpr int64_t kOverhead = 2;
  const int64_t vectors = blocks_ * kChannelBlock / k_.lanes(DType::kF32);
  const Term tiles_of_first = ceil_quotient(count, k_.index(first));
  Term width = k_.index(first), least = tiles_of_first * (first * vectors + kOverhead);
  for (const int64_t wider : llvm::ArrayRef<int64_t>(widths).drop_front()) {
    const Term tiles = ceil_quotient(count, k_.index(wider));
    const Term time = tiles * (wider * vectors + kOverhead);
    const Term is_better = (wider <= count) & (time <= least);
    width = select(is_better, k_.index(wider), width);
    least = select(is_better, time, least);
  }
  const Term tiles = ceil_quotient(count, width);
  k_.loop(k_.index(0), tiles, 1, [&](Term tile) {
    const Term begin = tile * width, column = min(begin, count - width);
    emit({tile_rows, widths, width}, row, column, begin - column);
  });
}

}  // namespace scopevm::compiler::kernels

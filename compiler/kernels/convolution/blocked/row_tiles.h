// Divides rows of pixels into tiles of blocked convolutions.
#pragma once

#include <optional>

#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/convolution/blocked/shape.h"

namespace scopevm::compiler::kernels {

// The last tile of a row overlaps the one before it by fewer pixels than this.
inline constexpr int64_t kMostOverlap = 28;

// The pixels of a tile.
struct TileSize {
  int64_t rows;
  llvm::ArrayRef<int64_t> widths;  // the possible numbers of columns
  Term width;                      // the number of columns
  int64_t before = 0, after = 0;   // see BlockedTile

  // Emits `body` for the width.
  void each_width(CodeBuilder& e, llvm::function_ref<void(int64_t width)> body) const;
};

// If the length of a row is known, the widths of its tiles differ by at most one pixel. Otherwise
// they are equal, and the last tile overlaps the one before it.
class RowTiles {
 public:
  // `group_blocks`: the channel blocks that are computed together. `omits_padding`: tiles omit the
  // taps in the padding. `k` and `shape` must outlive the object.
  RowTiles(KernelBuilder& k, const BlockedShape& shape, int64_t group_blocks, bool omits_padding);

  // Receives a tile, its first row and column, and the number of its first columns that the tile
  // before it also computes; null: 0.
  using Emit = llvm::function_ref<void(const TileSize& size, Term row, Term column, Term done)>;
  // Emits the tiles of one row of `count` pixels; `known` is their number if it is constant.
  void emit_row(Term count, std::optional<int64_t> known, Emit emit) const;
  // Emits the tiles of `rows` rows of windows of `shape`, which have `columns` pixels.
  void emit_rows(Term rows, Term columns, Emit emit) const;

 private:
  Term emit_short_rows(int64_t size, Term rows, Term columns, Term at, Emit emit) const;
  bool has_short_rows() const;
  void emit_row(int64_t tile_rows, Term count, std::optional<int64_t> known, int64_t most, Term row,
                Emit emit) const;
  void emit_at_border(int64_t tile_rows, int64_t begin, int64_t end, int64_t width, Term row,
                      Emit emit) const;
  void emit_unknown_row(int64_t tile_rows, Term count, int64_t most, Term row, Emit emit) const;

  KernelBuilder& k_;
  const BlockedShape& shape_;
  const BlockedAxis (&axes_)[2];
  int64_t group_blocks_;
  bool omits_padding_;
  int64_t blocks_;  // of a tile
  int64_t most_;    // pixels of a tile
};

}  // namespace scopevm::compiler::kernels

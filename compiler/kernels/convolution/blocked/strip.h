// The part of x that the tiles of some rows of a result read, in scratch memory.
#pragma once

#include <optional>

#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/convolution/blocked/depthwise_tiles.h"
#include "compiler/kernels/convolution/blocked/expansion.h"
#include "compiler/kernels/convolution/blocked/shape.h"
#include "compiler/kernels/convolution/convolution.h"

namespace scopevm::compiler::kernels {

// A strip is [planes][rows][columns][pixel]. It is a copy of x with zeros for the padding of the
// convolution and for the channels after the last one, or it is computed by another convolution,
// whose input can be computed by an expansion (expansion.h). A pixel has one element, or the 16
// channels of a block: 4 quads if x is u8.
class Strip {
 public:
  // `shape`: of the convolution that reads the strip. The strip copies `x`, or `producer` computes
  // it; then its operands are declared.
  Strip(KernelBuilder& k, const BlockedShape& shape, const Buffer& x,
        const FusedSeparable* producer);

  // The elements for `rows` rows of the result, and those of the strip for one more row.
  DimExpr elements(DimExpr rows) const;
  DimExpr row_elements() const;

  // The rows that are computed together.
  int64_t tile_rows() const { return tiles_ ? tiles_->rows() : 1; }
  // The least rows for which an expansion computes few rows of its result again, because the strips
  // of adjacent rows of the result need them, too.
  int64_t least_rows() const;

  // Declares params. The strip of at most `rows` rows of the result starts at element `start` of
  // the scratch memory.
  void declare(const Scratch& scratch, Term start, DimExpr rows);
  // Emits the copy, or the computation, for `rows` rows of the result, from row `first` on.
  void emit(Term image, Term first, Term rows);

  const Buffer& buffer() const { return buffer_; }
  Term start() const { return start_; }
  Term plane() const { return rows_ * pitch_; }  // elements between planes
  Term pitch() const { return pitch_; }          // elements between rows

 private:
  DimExpr width_dim() const;
  DimExpr strip_elements(DimExpr rows) const;
  DimExpr expanded_rows(DimExpr rows) const;
  void emit_computed(Term image, Term first, Term rows);
  void emit_plane(Term image, Term number, Term first, Term rows, Term expanded);
  void emit_row(Term plane, Term from, Term is_inside, Term to);
  void copy_pixels(Term from, Term to, Term count, int64_t channels);

  KernelBuilder& k_;
  const BlockedAxis (&axes_)[2];
  const int64_t pixel_;
  const int64_t planes_, all_planes_;  // of a group of the convolution, and of x
  const int64_t rest_;                 // the channels of the last plane, if it is not whole

  const Buffer x_;
  const FusedSeparable* producer_;
  std::optional<Expansion> expansion_;
  std::optional<DepthwiseTiles> tiles_;
  std::optional<Epilogue> epilogue_;  // of the tiles

  Buffer buffer_;
  Term start_, rows_, width_, pitch_, x_height_, x_width_;
  Term inside_begin_, inside_end_;  // the columns that are columns of x
};

}  // namespace scopevm::compiler::kernels

// A convolution of single pixels that computes rows of x for a convolution with one group per
// channel, in scratch memory.
#pragma once

#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/convolution/blocked/shape.h"
#include "compiler/kernels/convolution/blocked/tile.h"

namespace scopevm::compiler::kernels {

// The scratch memory is [group_blocks][rows][width][16], the channel blocks of one group, and the
// sums of a tile if its function does not contain the epilogue.
class Expansion {
 public:
  // Declares the operands, except for those of the epilogue. `fused` has one result.
  Expansion(KernelBuilder& k, const FusedContraction& fused);

  // The channel blocks that are computed together.
  int64_t group_blocks() const { return group_blocks_; }
  // The elements of the scratch memory for at most `rows` rows.
  DimExpr elements(DimExpr rows) const;

  // Declares params and the operands of the epilogue. The scratch memory starts at `start`.
  void declare(const Buffer& scratch, Term start, DimExpr rows);
  // Emits the computation of rows [begin, end) of the channel blocks of `group`.
  void emit(Term image, Term group, Term begin, Term end);
  // The element at which row 0 of a channel block of the group would start, if row `begin` is the
  // first one.
  Term row_0(Term begin, Term block) const { return start_ + block * plane_ - begin * pitch_; }

 private:
  DimExpr sums() const;
  void emit_tile(Term image, Term group, Term pixel, int64_t pixels);
  void emit_epilogue(Term image, Term group, Term pixel, int64_t pixels);

  KernelBuilder& k_;
  BlockedShape shape_;
  Epilogue epilogue_;
  int64_t channels_, planes_, group_blocks_;
  schedule::ConvTile tile_;
  Buffer x_, w_, scratch_;
  Term start_, plane_, pitch_, sums_at_;  // of the scratch memory
  Term x_pixels_;                         // of a plane of x
  Term width_;
};

}  // namespace scopevm::compiler::kernels

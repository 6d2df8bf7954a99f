// The tiles of convolutions of blocked images (sv.blocked_conv) with narrow groups, such as one
// group per channel: see graph::has_narrow_groups().
#pragma once

#include <array>

#include "compiler/fusion/contraction_match.h"
#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::kernels {

// Emits the sums of some rows of one channel block. They are computed in tiles of several rows and
// columns, whose sums stay in registers: each pixel of x is loaded once per tile.
//
// Rows of padding are skipped by branches. The columns of padding of the first and last tiles of a
// row are known at compile time if the width is. Otherwise these tiles use masked loads.
//
// Each lane is an output channel. If groups have several channels, a tile loops over them: it
// multiplies the weights of the groups' first channels by the pixels of x in which each lane has
// the first channel of its group, and so on.
//
// Products of bytes are f32, too. Their sums are exact integers: a window has at most 49 elements
// of 8 channels, so that they are less than 2^24. `store` receives them as i32.
class DepthwiseTiles {
 public:
  // Declares the operands and params of the convolution in `fused`, except for x if it is in
  // scratch memory: see read_from().
  DepthwiseTiles(KernelBuilder& k, const fusion::FusedContraction& fused, bool x_is_operand = true);
  // Reads x from scratch memory, [blocks][rows][width][16].
  void read_from(const Buffer& scratch) { x_ = scratch; }

  // The rows of a tile.
  int64_t rows() const { return tile_.rows; }
  // The rows of x that rows [first, end) of the result read: [begin, end).
  std::pair<Term, Term> input_rows(Term first, Term end) const;

  // Emits rows [first, end) of channel block `block` of image `image`. `store` receives a vector of
  // channels of the result: its row, its column, and its first channel in the block.
  using Store = llvm::function_ref<void(Term sum, Term y, Term x, Term lane)>;
  void emit(Term image, Term block, Term first, Term end, Store store);
  // The same for x in scratch memory. Row 0 of the channel block would start at element `x_at`.
  // Rows input_rows(first, end) are in the scratch memory.
  void emit_from(Term x_at, Term block, Term first, Term end, Store store);

 private:
  // What is known about a column of x.
  enum class Column : uint8_t { kInside, kOutside, kUnknown };

  // The columns of x that a tile reads, and the columns of the result that it computes.
  struct Columns {
    llvm::SmallVector<Column, 0> inputs;
    int64_t known_count = 0;  // of the result
    Term count;               // of the result, if it is not known; else null
  };

  // The vectors of channels that are computed, the end of the rows, and that of the rows of x.
  struct Part {
    Term x_at, x_end, w_at, lane, end;
    Store store;
  };

  int64_t reach(int axis, int64_t count) const;
  Columns columns_at(int64_t x) const;
  bool is_inside(const Columns& columns) const;
  void emit_row(const Part& part, Term y);
  void emit_known_row(const Part& part, Term y);
  void emit_tile(const Part& part, Term y, Term x, const Columns& columns);
  void emit_block(Term x_at, Term x_end, Term block, Term first, Term end, Store store);
  void load_weights(Term from);
  Term channel_of_groups(Term pixel) const;
  void add_rows(const Part& part, Term y, Term x, const Columns& columns, Terms& sums);
  void add_row(const Part& part, Term line, int64_t i, Term start, const Columns& columns,
               Terms& sums);
  void add_pixel(Term from, Term start, int64_t j, const Columns& columns,
                 llvm::ArrayRef<int64_t> taps, Terms& sums);

  KernelBuilder& k_;
  int64_t lanes_;
  mlir::Type type_, integers_;  // vector types of f32 and i32
  bool has_bytes_ = false;      // x is u8
  std::array<int64_t, 2> kernel_, stride_, pad_, dilation_;
  std::optional<int64_t> known_width_, known_out_width_;
  int64_t group_ = 1;  // channels of a group
  schedule::DepthwiseTile tile_;
  Buffer x_, w_;
  Terms weights_;  // of the current vector of channels, and the current channel of its groups
  Term channel_;   // of the groups, if they have several channels: that of `weights_`
  Term blocks_, height_, width_, out_width_;
};

}  // namespace scopevm::compiler::kernels

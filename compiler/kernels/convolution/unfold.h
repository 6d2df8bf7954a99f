// Code that unfolds 32 output positions of an image into a B panel (im2col, a panel at a time).
#pragma once

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/contraction/tile/microkernel.h"

namespace scopevm::compiler::kernels {

class Unfold {
 public:
  // All index values. `at` is the first element of the group's first channel.
  struct Image {
    Buffer buffer;
    Term at, channels, height, width, out_width, positions;
    Term kernel[2], strides[2], pads[2], dilations[2];
  };

  // Call at the start of the kernel: makes room for a table on the stack.
  explicit Unfold(CodeBuilder& e);

  // to[to_at + ((kernel position) * channels + channel) * 32 + j] := the element that output
  // position first + j sees there; 0 in the border and for positions that do not exist.
  void emit(const Image& image, Term first, const Buffer& to, Term to_at);

 private:
  struct Lanes {
    Term y, x, exists;  // vectors: input coordinates of kernel position 0, 0
    Term base;          // element offset of lane 0
    Term is_run;        // the lanes' elements are consecutive
  };
  void emit_table(const Image& image, Term first);
  Lanes lanes_from(const Image& image, Term first, int64_t column);
  void emit_position(const Image& image, const Lanes& lanes, Term ky, Term kx, const Buffer& to,
                     Term to_at);

  CodeBuilder& e_;
  int64_t lane_count_;
  Buffer table_y_, table_x_;  // of 32 i32
};

}  // namespace scopevm::compiler::kernels

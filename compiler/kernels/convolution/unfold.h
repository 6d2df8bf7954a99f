// Emits code that unfolds 32 output positions of an image into a B panel: im2col, one panel at a
// time.
#pragma once

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/contraction/tile/microkernel.h"

namespace scopevm::compiler::kernels {

class Unfold {
 public:
  // All values have type index. `at` is the first element of the group's first channel.
  struct Image {
    Buffer buffer;
    Term at, channels, height, width, out_width, positions;
    Term kernel[2], strides[2], pads[2], dilations[2];
  };

  // Reserves a table on the stack. Construct it at the start of the kernel.
  explicit Unfold(CodeBuilder& e);

  // to[to_at + ((kernel position) * channels + channel) * 32 + j] := the input element of output
  // position first + j; 0 in the padding and for positions past the last one.
  void emit(const Image& image, Term first, const Buffer& to, Term to_at);

 private:
  struct Lanes {
    Term y, x, exists;  // vectors: input coordinates of kernel position (0, 0)
    Term base;          // element offset of lane 0
    Term is_run;        // true if the lanes' elements are consecutive
  };
  void emit_table(const Image& image, Term first);
  Lanes lanes_from(const Image& image, Term first, int64_t column);
  void emit_position(const Image& image, const Lanes& lanes, Term ky, Term kx, const Buffer& to,
                     Term to_at);

  CodeBuilder& e_;
  int64_t lane_count_;
  Buffer table_y_, table_x_;  // 32 elements of i32
};

}  // namespace scopevm::compiler::kernels

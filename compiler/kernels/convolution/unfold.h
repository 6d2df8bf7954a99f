// Emits code that unfolds 32 output positions of an image into a B panel: im2col for one panel.
#pragma once

#include <functional>

#include "compiler/kernels/contraction/tile/microkernel.h"
#include "compiler/kernels/convolution/local_table.h"

namespace scopevm::compiler::kernels {

class Unfold {
 public:
  // The terms have type index. `at` is the position of the first channel of the group, and
  // `channels` the number of its channels.
  struct Image {
    Buffer buffer;
    Term at, channels, height, width, out_width, positions;
    Term kernel[2], pads[2], dilations[2];
    int64_t strides[2];
  };

  // Adds two tables to the kernel. REQUIRES: the insertion point is outside loops.
  explicit Unfold(KernelBuilder& k);

  // Unfolds output positions [first, first + 32). For each kernel position and channel, the input
  // element of output position first + j is stored at
  //   to[to_at + (kernel position * channels + channel) * 32 + j]
  // It is 0 in the padding, and for output positions past the last one.
  void emit(const Image& image, Term first, const Buffer& to, Term to_at);

 private:
  // Adjacent lanes whose output positions are in one output row.
  struct Run {
    Term begin, end;  // lanes
    Term y, x;        // input coordinates of lane `begin` for kernel position (0, 0)
  };
  struct Lanes {
    // Vectors. y and x are the input coordinates for kernel position (0, 0). `exists` is true in
    // lanes whose output position exists.
    Term y, x, exists;
    Term base;    // y * width + x of lane 0
    Term is_run;  // true if the lanes' elements are consecutive
    // For stride 2: the lanes are in one or two output rows.
    Term has_two_runs;
    Run runs[2];
  };
  Term channels_per_pass(const Image& image);
  void emit_table(const Image& image, Term first);
  Lanes lanes_from(const Image& image, Term first, int64_t column);
  void find_runs(const Image& image, Term first, int64_t column, Lanes& lanes);
  // A range of channels.
  struct Channels {
    Term begin, end;
  };
  void emit_position(const Image& image, const Lanes& lanes, Term ky, Term kx, Channels channels,
                     const Buffer& to, Term to_at);
  std::function<Term(Term plane)> every_other_of_runs(const Image& image, const Lanes& lanes,
                                                      Term dy, Term dx);

  CodeBuilder& e_;
  int64_t lane_count_;
  // i32 input coordinates of the 32 output positions for kernel position (0, 0).
  Scratch table_y_, table_x_;
};

}  // namespace scopevm::compiler::kernels

// Code that unfolds 32 output positions of an image into a B panel (im2col, a panel at a time).
#pragma once

#include "compiler/kernels/contraction/emitter.h"
#include "compiler/kernels/contraction/matmul/microkernel.h"

namespace scopevm::compiler::kernels {

class Unfold {
 public:
  // All index values. `at` is the first element of the group's first channel.
  struct Image {
    mlir::Value buffer, at, channels, height, width, out_width, positions;
    mlir::Value kernel[2], strides[2], pads[2], dilations[2];
  };

  // Call at the start of the kernel: makes room for a table on the stack.
  Unfold(Emitter& emit, const Target& target);

  // to[to_at + ((kernel position) * channels + channel) * 32 + j] := the element that output
  // position first + j sees there; 0 in the border and for positions that do not exist.
  void emit(const Image& image, mlir::Value first, mlir::Value to, mlir::Value to_at);

 private:
  struct Lanes {
    mlir::Value y, x, exists;  // vectors: input coordinates of kernel position 0, 0
    mlir::Value base;          // element offset of lane 0
    mlir::Value is_run;        // the lanes' elements are consecutive
  };
  void emit_table(const Image& image, mlir::Value first);
  Lanes lanes_from(const Image& image, mlir::Value first, int64_t column);
  void emit_position(const Image& image, const Lanes& lanes, mlir::Value ky, mlir::Value kx,
                     mlir::Value to, mlir::Value to_at);

  Emitter& e_;
  int64_t lane_count_;
  mlir::Value table_y_, table_x_;  // memref<32xi32>
};

}  // namespace scopevm::compiler::kernels

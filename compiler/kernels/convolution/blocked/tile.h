// The micro-kernel of convolutions of blocked images (sv.blocked_conv): a tile of output pixels and
// channel blocks, whose sums stay in registers.
#pragma once

#include <string>

#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/builder/kernel_module.h"
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::kernels {

// The largest number of steps of a tap row that are unrolled.
inline constexpr int64_t kMostUnrolled = 8;

// The shape of a tile, and how it steps through its input. Each set of values has its own function.
//
// The input is planes of rows of pixels. A pixel has one element, or the 16 channels of a block.
// For each plane, tap row and tap, the tile takes `steps` steps. A step multiplies one element per
// pixel by a vector of 16 weights per channel block. The elements of subsequent steps are adjacent.
// Quads of bytes are multiplied and added to the sums by a dot product.
struct BlockedTile {
  int64_t rows = 1, columns = 1;  // of output pixels
  int64_t blocks = 1;             // output channel blocks of the tile
  int64_t group_blocks = 1;  // output channel blocks of the packed weights: see packed_blocks()
  int64_t pixel_step = 1;    // elements between the inputs of adjacent pixels of a row
  int64_t steps = 1;
  int64_t result_step = 1;   // between the results of adjacent pixels of a row, in pixels
  int64_t weight_steps = 1;  // of a tap row in the packed weights: `steps` or more
  bool has_tap_rows = false, has_taps = false;
  bool has_quads = false;  // an element is four bytes, and the sums are i32
  bool prefetches_weights = true;
  // Prefetches the pixels of the next tile, which follow those of this tile in each plane.
  bool prefetches_x = false;
  // The steps of a tap in one more plane, whose other channels are padding; 0: no such plane.
  int64_t rest = 0;
  // Only the first half of the last block's channels is computed.
  bool has_half_block = false;
  // In each row of a tile at the border of x, the first window begins `before` columns of x before
  // the first one, and the last window ends `after` columns of x after the last one. Taps in these
  // columns are not computed.
  int64_t before = 0, after = 0;
  int64_t column_elements = 1;       // of a column of x
  int64_t stride = 1, dilation = 1;  // in columns of x

  int64_t pixels() const { return rows * columns; }
  // Whether each tap of a tap row has its own columns. Then has_taps is false.
  bool is_at_border() const { return before != 0 || after != 0; }

  // An equal tile without values of members that its function does not depend on.
  BlockedTile canonical(bool has_epilogue) const;
  // The values of all members: equal for equal functions.
  std::string key() const;
};

// The operands of a tile; positions count elements.
struct BlockedOperands {
  Buffer x;
  Term x_at;       // the first step of the first pixel
  Term plane;      // between planes
  Term tap_row;    // between tap rows
  Term tap;        // between taps; not used unless has_taps
  Term pixel_row;  // between the inputs of adjacent rows of pixels
  Buffer w;
  Term w_at;
  Buffer sums;  // [pixels][group_blocks][16]
  Term sums_at;
  Term planes, tap_rows, taps;
  Term weight_rows;  // tap rows of a plane in the packed weights: `tap_rows` or more
  Term rest_planes;  // 1 if the plane after the others, with `rest` steps, is computed; else 0
  Term accumulate;   // i1: adds to the sums that are stored
  // With an epilogue: the first pixel of the result, and the pixels between adjacent rows.
  Term pixel, pixel_pitch;
};

// Emits a call of the tile's function, which the first call of a module creates. The function
// stores the sums; with an epilogue, it stores its results instead. The epilogue's rows are pixels,
// and the last batch dim is the channel block.
void call_blocked_tile(CodeBuilder& e, KernelModule& module, const BlockedTile& tile,
                       const BlockedOperands& operands, const Epilogue* epilogue);

}  // namespace scopevm::compiler::kernels

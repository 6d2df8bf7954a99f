// Packs weights into the layouts of microkernel.h. Constants are packed at compile time, in one
// layout for every target, and stored in the scope of the weights. pack_rows.cpp packs other
// weights at run time.
#pragma once

#include "compiler/kernels/builder/lowering_context.h"
#include "compiler/kernels/contraction/tile/quantised_panel.h"
#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::kernels {

// Whether the weights are packed at compile time. `is_padded`: the packed form is larger.
bool packs_constant(LoweringContext& context, mlir::Value weights, bool is_padded);

// The type of the panels of b, constant and f32: f16 or bf16 if it represents all of many elements,
// else f32.
DType panel_type(LoweringContext& context, mlir::Value b);

// Packs b, f32 [depth, columns] or [columns, depth] if transposed, to panels:
//   [ceildiv(columns, 32)][depth][32]
// The last panel is padded with zeros. REQUIRES: `dtype` represents the elements.
ValueId packed_panels(LoweringContext& context, mlir::Value b, int64_t depth, int64_t columns,
                      bool transposed, DType dtype = DType::kF32);

// Packs b, i8 [depth, columns], to panels of quads, padded with zeros:
//   [ceildiv(columns, 32)][ceildiv(depth, 4)][32]
ValueId packed_quad_panels(LoweringContext& context, mlir::Value b, int64_t depth, int64_t columns);

// Packs q, u8 [columns, bytes], which has `depth` integers per row, as `format` says:
//   [ceildiv(columns, 32)][panel bytes]
ValueId packed_integers(LoweringContext& context, mlir::Value q, int64_t depth, int64_t columns,
                        const BlockFormat& format);

// Packs w, f32 [groups * rows, channels, kernel], to tiles:
//   [groups][tiles][kernel * channels][12]
// `rows` and `channels` are those of one group, `kernel` counts kernel positions, and tiles is
// ceildiv(rows, 12). Tile t holds rows [t * rows / tiles, (t + 1) * rows / tiles). The depth is
// ordered by kernel position, then channel, as in an unfolded image.
ValueId packed_rows(LoweringContext& context, mlir::Value w, int64_t groups, int64_t rows,
                    int64_t channels, int64_t kernel);

// The layout of the weights of sv.blocked_conv, padded with zeros:
//   [row groups][planes][height][width][pixel][blocks of the group][16]
// A plane is `pixel` elements, and `groups` are groups of blocks of 16 rows.
struct BlockLayout {
  int64_t pixel = 1;
  schedule::BlockGroups groups;
  int64_t element_channels = 1;  // adjacent channels that are an element: 4 of quads of bytes

  int64_t planes(int64_t channels) const;
  // The dims of the packed weights, and their product, for weights with these dims.
  std::vector<int64_t> dims(llvm::ArrayRef<int64_t> weights) const;
  int64_t elements(llvm::ArrayRef<int64_t> weights) const;
};

// Packs w, f32 or i8 [rows, channels, height, width], to elements of `dtype`: f32, or i32 for
// quads. Weights that are not constant are packed by a launch for `op`: see pack_blocks().
ValueId packed_blocks(LoweringContext& context, mlir::Operation* op, mlir::Value w, DType dtype,
                      const BlockLayout& layout);

// The points of Winograd's F(4, 3): 0, a, -a, b, -b and infinity, with the numbers a and b of this
// list. Rounding errors are smaller than with 1 and 2 (Barabasz et al., Error Analysis and
// Improving the Accuracy of Winograd Convolution for Deep Neural Networks, 2020).
constexpr double kWinogradPoints[] = {0.625, 1.5};

// Packs constant w, f32 [rows, channels, 3, 3], for Winograd's F(4x4, 3x3), padded with zeros:
//   [row groups][36][planes][16][group_blocks][16]
// There are 36 transformed weights per row and channel. Row groups and planes are as above, for
// planes of 16 channels.
ValueId packed_winograd(LoweringContext& context, mlir::Value w, int64_t group_blocks);

// Appends a launch, for `op`, that packs weights into the layout of packed_rows at run time.
ValueId pack_rows(LoweringContext& context, mlir::Operation* op, ValueId w, int64_t groups,
                  int64_t rows, int64_t channels, int64_t kernel);

// The same at run time, by a launch for `op`. `from` is the dtype of w.
ValueId pack_blocks(LoweringContext& context, mlir::Operation* op, ValueId w, DType from,
                    llvm::ArrayRef<int64_t> dims, DType dtype, const BlockLayout& layout);

}  // namespace scopevm::compiler::kernels
